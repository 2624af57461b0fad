import type { Database } from '@paddock/db/schema/tables';
import {
  type FailedOperation,
  type Handled,
  lockFailed,
  noteHandled,
} from '@paddock/queue/operations';
import type { Transaction } from 'kysely';
import { z } from 'zod';
import { note, record } from '../actions/act.ts';
import { type Caller, endpoint } from '../endpoint.ts';
import { failedFilter } from './list-operations.ts';
import { isPaused, repeatFailed } from './repeat-failed.ts';

/** Most failed operations that one request deals with, so that its transaction stays short. */
const MOST_AT_ONCE = 200;

const input = z.object({
  how: z.enum(['retry', 'discard']).describe('Whether they are repeated, or leave the list'),
  ...failedFilter,
  dryRun: z.boolean().default(false).describe('Only count them'),
  note,
});

/** How many it dealt with. */
export const failedOutput = z.object({
  operations: z.int().describe(`How many, ${MOST_AT_ONCE} at most`),
  paused: z.int().describe('How many stay, because their sweeps are paused'),
  dryRun: z.boolean(),
  more: z.boolean().describe('Others fit too: ask again'),
});

export const handleFailedOperationsEndpoint = endpoint({
  name: 'handleFailedOperations',
  method: 'POST',
  path: '/api/v1/failed-operations/{how}',
  summary:
    'Repeats the failed operations that fit, the newest first, each as a new one, or takes them off their list.',
  access: 'operate',
  status: 200,
  input,
  output: failedOutput,
  answer: (caller, given) =>
    caller.db.transaction().execute(async (trx) => {
      const failed = await lockFailed(trx, given, MOST_AT_ONCE + 1);
      const some = failed.slice(0, MOST_AT_ONCE);
      const { handled, paused } =
        given.how === 'retry'
          ? await retry(trx, caller, given, some)
          : await discard(trx, caller, given, some);
      if (!given.dryRun) await noteHandled(trx, handled, caller.person);
      const more = failed.length > MOST_AT_ONCE;
      return { operations: handled.length, paused, dryRun: given.dryRun, more };
    }),
});

type Input = z.output<typeof input>;

interface Dealt {
  readonly handled: readonly Handled[];
  readonly paused: number;
}

async function retry(
  trx: Transaction<Database>,
  caller: Caller,
  given: Input,
  failed: readonly FailedOperation[],
): Promise<Dealt> {
  const handled: Handled[] = [];
  let paused = 0;
  for (const one of failed) {
    if (await isPaused(trx, one)) paused += 1;
    else if (given.dryRun) handled.push({ id: one.id, retriedAs: null });
    else {
      const retriedAs = await repeatFailed(trx, one, caller.person);
      handled.push({ id: one.id, retriedAs });
      // Each has its row: the new operation's askers are read there.
      await record(trx, caller, requestOf(given), retriedAs);
    }
  }
  return { handled, paused };
}

async function discard(
  trx: Transaction<Database>,
  caller: Caller,
  given: Input,
  failed: readonly FailedOperation[],
): Promise<Dealt> {
  const handled = failed.map(({ id }) => ({ id, retriedAs: null }));
  if (!given.dryRun && handled.length > 0)
    await record(trx, caller, requestOf(given, { operations: handled.length }));
  return { handled, paused: 0 };
}

/** What the audit says about it. */
const requestOf = (
  { how, kind, from, to, note: why }: Input,
  more: Readonly<Record<string, number>> = {},
) => ({
  endpoint: 'handleFailedOperations',
  subject: {
    how,
    ...(kind !== undefined && { kind }),
    ...(from !== undefined && { from: from.toISOString() }),
    ...(to !== undefined && { to: to.toISOString() }),
    ...more,
  },
  note: why,
});
