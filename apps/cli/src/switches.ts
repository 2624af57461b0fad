import { liftSwitchEndpoint } from '@paddock/api/switches/lift-switch';
import { listSwitchesEndpoint } from '@paddock/api/switches/list-switches';
import { setSwitchEndpoint } from '@paddock/api/switches/set-switch';
import type { switchState } from '@paddock/api/switches/switch';
import { SWEEPS } from '@paddock/domain/tasks/sweep-names';
import type { z } from 'zod';
import { askCommand } from './ask-command.ts';
import { columns, printable } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { more } from './list-options.ts';
import { oneWord } from './one-word.ts';

const turns = {
  takes: 'environment|pool:NAME|entity:LOGIN|sweeps|SWEEP',
  words: SWEEPS,
  input: (given: Parameters<typeof oneWord>[0]) => ({ subject: oneWord(given, 'subject') }),
  /** One sentence: how the switch stands now. */
  print({ subject, held }: z.input<typeof switchState>): string {
    if (held === null) return `${subject} goes on.\n`;
    const why = held.note === null ? '' : `: ${printable(held.note)}`;
    return `${subject} is paused by ${printable(held.by)} since ${held.since}${why}\n`;
  },
};

export const switchesCommands: readonly Command[] = [
  askCommand({
    name: 'switches',
    takes: '',
    summary: 'Lists what people hold back now, the oldest first: who, since when and why.',
    options: PAGE,
    endpoint: listSwitchesEndpoint,
    input: ({ options }) => options,
    print: ({ items, next }) =>
      columns(
        ['SUBJECT', 'NAME', 'BY', 'SINCE', 'NOTE'],
        items.map(({ subject, name, by, since, note }) => [subject, name, by, since, note]),
        'Nothing is paused.',
      ) + more(next),
  }),
  askCommand({
    name: 'pause',
    summary: `Holds the making of workers back: everywhere, in a pool, or for an entity. Workers that are there go on.
Or a sweep of the reconciler, or all sweeps. A dry run still runs.`,
    endpoint: setSwitchEndpoint,
    ...turns,
  }),
  askCommand({
    name: 'resume',
    summary: 'Lets it go on again. What another switch holds back stays.',
    endpoint: liftSwitchEndpoint,
    ...turns,
  }),
];
