import { listStopsEndpoint } from '@paddock/api/stops/list-stops';
import { pauseSweepEndpoint } from '@paddock/api/stops/pause-sweep';
import { resumeMakingEndpoint } from '@paddock/api/stops/resume-making';
import type { stopState } from '@paddock/api/stops/stop';
import { stopMakingEndpoint } from '@paddock/api/stops/stop-making';
import { unpauseSweepEndpoint } from '@paddock/api/stops/unpause-sweep';
import { SWEEPS } from '@paddock/domain/tasks/sweep-names';
import type { z } from 'zod';
import { askCommand } from './ask-command.ts';
import { columns, printable } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { more } from './list-options.ts';
import { oneWord } from './one-word.ts';

const MAKING = 'environment|pool:NAME|entity:LOGIN';

/** One sentence: how the switch stands now. */
const state = ({ what, subject, stopped }: z.input<typeof stopState>): string => {
  const named = what === 'making' ? `The making of workers (${subject})` : `The sweep ${subject}`;
  if (stopped === null) return `${named} goes on.\n`;
  const why = stopped.note === null ? '' : `: ${printable(stopped.note)}`;
  const { by, at } = stopped;
  return `${named} has been ${what === 'making' ? 'stopped' : 'paused'} by ${printable(by)} since ${at}${why}\n`;
};

const making = (given: Parameters<typeof oneWord>[0]) => ({ subject: oneWord(given, 'subject') });
const sweep = (given: Parameters<typeof oneWord>[0]) => ({ sweep: oneWord(given, 'sweep') });

export const stopsCommands: readonly Command[] = [
  askCommand({
    name: 'stops',
    takes: '',
    summary: 'Lists what people hold back now, the oldest first: who, since when and why.',
    options: PAGE,
    endpoint: listStopsEndpoint,
    input: ({ options }) => options,
    print: ({ items, next }) =>
      columns(
        ['WHAT', 'SUBJECT', 'NAME', 'BY', 'SINCE', 'NOTE'],
        items.map(({ what, subject, name, by, at, note }) => [what, subject, name, by, at, note]),
        'Nothing is stopped or paused.',
      ) + more(next),
  }),
  askCommand({
    name: 'stop-making',
    takes: MAKING,
    summary: 'Stops the making of workers at once. Workers that are there go on.',
    endpoint: stopMakingEndpoint,
    input: making,
    print: state,
  }),
  askCommand({
    name: 'resume',
    takes: MAKING,
    summary: 'Ends a stop of the making of workers.',
    endpoint: resumeMakingEndpoint,
    input: making,
    print: state,
  }),
  askCommand({
    name: 'pause',
    takes: 'SWEEP|all',
    words: SWEEPS,
    summary: 'Pauses a sweep of the reconciler, or all. A dry run still runs.',
    endpoint: pauseSweepEndpoint,
    input: sweep,
    print: state,
  }),
  askCommand({
    name: 'unpause',
    takes: 'SWEEP|all',
    words: SWEEPS,
    summary: 'Ends the pause of a sweep; it stays paused while all are.',
    endpoint: unpauseSweepEndpoint,
    input: sweep,
    print: state,
  }),
];
