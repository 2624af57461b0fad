import type { Database } from '@paddock/db/schema/tables';
import { findSwitchOfSweep } from '@paddock/db/switches';
import { SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { enqueueAsked } from '@paddock/queue/enqueue';
import {
  type FailedOperation,
  type Handled,
  lockFailed,
  noteHandled,
} from '@paddock/queue/operations';
import type { Transaction } from 'kysely';
import { requireUnpaused } from '../sweeps/run-sweep.ts';
import { refused } from '../problem.ts';
import { failedFilter, operation, readOperation } from './operation.ts';
import { z } from 'zod';
import { act, note, record } from '../actions/list-actions.ts';
import { type Caller, endpoint } from '../endpoint.ts';

const SWEEP_KINDS: ReadonlySet<string> = new Set(SWEEPS);

/** Of dry runs nothing is paused, and of tasks that are no sweeps neither. */
const mayBePaused = ({ kind, subject }: FailedOperation): boolean =>
  SWEEP_KINDS.has(kind) && subject.type !== 'dry-run';

/** Whether its sweep is paused, so that it would end without having done anything. */
const isPaused = async (trx: Transaction<Database>, failed: FailedOperation): Promise<boolean> =>
  mayBePaused(failed) &&
  (await findSwitchOfSweep(trx, failed.kind, failed.subject.id)) !== undefined;

/** Rejects with a Problem that says who has paused it. */
const requireRepeatable = async (
  trx: Transaction<Database>,
  failed: FailedOperation,
): Promise<void> => {
  if (mayBePaused(failed)) await requireUnpaused(trx, failed.kind, failed.subject.id);
};

/** Enqueues the task of a failed operation again, with all attempts. Returns the new one's id. */
const repeatFailed = (
  trx: Transaction<Database>,
  { kind, subject, payload, maxAttempts, deliveryGuid }: FailedOperation,
  requestedBy: string,
): Promise<string> =>
  enqueueAsked(trx, {
    kind,
    subject,
    payload,
    maxAttempts,
    requestedBy,
    ...(deliveryGuid !== null && { deliveryGuid }),
  });

/** Locks one failed operation. Rejects with a Problem if it is none, or somebody dealt with it. */
async function lockOneFailed(trx: Transaction<Database>, id: string): Promise<FailedOperation> {
  const { status } = await readOperation(trx, id);
  if (status !== 'ERROR') throw refused(`The operation has not failed: it is ${status}.`);
  const [failed] = await lockFailed(trx, { id }, 1);
  if (failed !== undefined) return failed;
  const { handled } = await readOperation(trx, id);
  const what = handled?.retriedAs === null ? 'discarded' : `retried as ${handled?.retriedAs}`;
  throw refused(`${handled?.by ?? 'Somebody'} has dealt with it before: it was ${what}.`);
}

export const retryOperationEndpoint = endpoint({
  name: 'retryOperation',
  method: 'POST',
  path: '/api/v1/operations/{operation}/retry',
  summary: 'Repeats a failed operation as a new one, with all attempts.',
  status: 202,
  input: z.object({ operation: z.string().max(100), note }),
  output: operation,
  answer: (caller, { operation: id, note: why }) =>
    caller.db.transaction().execute(async (trx) => {
      const failed = await lockOneFailed(trx, id);
      await requireRepeatable(trx, failed);
      const retriedAs = await repeatFailed(trx, failed, caller.person);
      await noteHandled(trx, [{ id: failed.id, retriedAs }], caller.person);
      const request = { endpoint: 'retryOperation', subject: { operation: failed.id }, note: why };
      await record(trx, caller, request, retriedAs);
      return readOperation(trx, retriedAs);
    }),
});

export const discardOperationEndpoint = endpoint({
  name: 'discardOperation',
  method: 'POST',
  path: '/api/v1/operations/{operation}/discard',
  summary: 'Takes a failed operation off the list of failed ones. It is found until it expires.',
  input: z.object({ operation: z.string().max(100), note }),
  output: operation,
  answer(caller, { operation: id, note: why }) {
    const request = { endpoint: 'discardOperation', subject: { operation: id }, note: why };
    return act(caller, request, async (trx) => {
      const failed = await lockOneFailed(trx, id);
      await noteHandled(trx, [{ id: failed.id, retriedAs: null }], caller.person);
      return readOperation(trx, failed.id);
    });
  },
});

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
