import { discardFailedOperationsEndpoint } from '@paddock/api/operations/discard-failed';
import { discardOperationEndpoint } from '@paddock/api/operations/discard-operation';
import type { failedOutput } from '@paddock/api/operations/failed-filter';
import { retryFailedOperationsEndpoint } from '@paddock/api/operations/retry-failed';
import { retryOperationEndpoint } from '@paddock/api/operations/retry-operation';
import type { z } from 'zod';
import { askCommand } from './ask-command.ts';
import { type Command, type Given, WrongUsage } from './command.ts';
import { DATES } from './list-options.ts';
import { oneWord } from './one-word.ts';
import { started } from './started.ts';

const MANY = {
  kind: { type: 'string', value: 'KIND', doc: 'of this kind only' },
  ...DATES,
  all: { type: 'boolean', doc: 'whatever their kind and age' },
  'dry-run': { type: 'boolean', doc: 'only count them' },
} as const;

/** Which ones are meant must be said: a forgotten filter would mean all. */
function filter({ options }: Given) {
  const { kind, from, to, all } = options;
  const isNarrowed = [kind, from, to].some((given) => given !== undefined);
  if (isNarrowed === (all === true))
    throw new WrongUsage('It takes either --all, or some of --kind, --from and --to.');
  return { kind, from, to, dryRun: options['dry-run'] };
}

/** How many it was about, and how many are left. */
const counted =
  (done: string) =>
  ({ operations, paused, more, dryRun }: z.input<typeof failedOutput>): string =>
    [
      `${operations} failed operations ${dryRun ? `would be ${done}` : `are ${done}`}.`,
      ...(paused === 0 ? [] : [`${paused} stay, because their sweeps are paused.`]),
      ...(more ? ['There are more: repeat the command.'] : []),
      '',
    ].join('\n');

export const failedCommands: readonly Command[] = [
  askCommand({
    name: 'operation retry',
    takes: 'ID',
    summary: 'Repeats a failed operation as a new one, with all attempts.',
    endpoint: retryOperationEndpoint,
    input: (given) => ({ operation: oneWord(given, 'id') }),
    print: started,
  }),
  askCommand({
    name: 'operation discard',
    takes: 'ID',
    summary: 'Takes a failed operation off the list of failed ones.',
    endpoint: discardOperationEndpoint,
    input: (given) => ({ operation: oneWord(given, 'id') }),
    print: ({ id }) => `${id} is off the list of failed operations.\n`,
  }),
  askCommand({
    name: 'operations retry',
    takes: '',
    summary: 'Repeats the failed operations that fit, 200 at a time, the newest first.',
    options: MANY,
    endpoint: retryFailedOperationsEndpoint,
    input: filter,
    print: counted('repeated'),
  }),
  askCommand({
    name: 'operations discard',
    takes: '',
    summary: 'Takes the failed operations that fit off their list, 200 at a time, newest first.',
    options: MANY,
    endpoint: discardFailedOperationsEndpoint,
    input: filter,
    print: counted('discarded'),
  }),
];
