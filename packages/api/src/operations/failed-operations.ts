import type { Trx } from '@paddock/db/schema/tables';
import { enqueueAsked } from '@paddock/queue/enqueue';
import { type FailedOperation, lockFailed, noteHandled } from '@paddock/queue/operations';
import { requireUnpaused } from './start-operation.ts';
import { refused } from '../problem.ts';
import { operationFilter } from './list-operations.ts';
import { operation, readOperation } from './operation.ts';
import { z } from 'zod';
import { note, record } from '../actions/list-actions.ts';
import { type Act, type Caller, endpoint } from '../endpoint.ts';

const handling = z.enum(['retry', 'discard']).describe('Whether it is repeated, or only marked');

type How = z.output<typeof handling>;

/**
 * Enqueues the task of a failed operation again, with all attempts, or marks it as dealt with.
 * Returns the new one's id.
 */
async function handle(
  trx: Trx,
  caller: Caller,
  request: Act,
  how: How,
  { id, deliveryGuid, ...task }: FailedOperation,
): Promise<string> {
  let retriedAs: string | null = null;
  if (how === 'retry') {
    const delivery = deliveryGuid === null ? {} : { deliveryGuid };
    retriedAs = await enqueueAsked(trx, { ...task, ...delivery, requestedBy: caller.person });
  }
  await noteHandled(trx, [{ id, retriedAs }], caller.person);
  await record(trx, caller, { ...request, subject: { operation: id, how } }, retriedAs);
  return retriedAs ?? id;
}

/** Locks one failed operation. Rejects with a Problem if it is none, or somebody dealt with it. */
async function lockOneFailed(trx: Trx, id: string): Promise<FailedOperation> {
  const { status } = await readOperation(trx, id);
  if (status !== 'ERROR') throw refused(`The operation has not failed: it is ${status}.`);
  const [failed] = await lockFailed(trx, { id }, 1);
  if (failed !== undefined) return failed;
  const { handled } = await readOperation(trx, id);
  const what = handled?.retriedAs === null ? 'discarded' : `retried as ${handled?.retriedAs}`;
  throw refused(`${handled?.by ?? 'Somebody'} has dealt with it before: it was ${what}.`);
}

export const handleOperationEndpoint = endpoint({
  name: 'handleOperation',
  method: 'POST',
  path: '/api/v1/operations/{operation}/{how}',
  summary:
    'Repeats a failed operation as a new one, with all attempts, or marks it as dealt with: then it is found until it expires.',
  status: 202,
  input: z.object({ operation: z.string().max(100), how: handling, note }),
  output: operation,
  answer: (caller, given, request) =>
    caller.db.transaction().execute(async (trx) => {
      const failed = await lockOneFailed(trx, given.operation);
      const { isPaused, kind, subject } = failed;
      if (isPaused && given.how === 'retry') await requireUnpaused(trx, kind, subject.id);
      return readOperation(trx, await handle(trx, caller, request, given.how, failed));
    }),
});

/** Most failed operations that one request deals with, so that its transaction stays short. */
const MOST_AT_ONCE = 200;

const failedOutput = z.object({
  operations: z.int().describe(`How many, ${MOST_AT_ONCE} at most`),
  dryRun: z.boolean(),
  paused: z.int().describe('How many are left, at least: a person has paused their sweep'),
  more: z.boolean().describe('Others fit too: ask again'),
});

export const handleFailedOperationsEndpoint = endpoint({
  name: 'handleFailedOperations',
  method: 'POST',
  path: '/api/v1/failed-operations/{how}',
  summary:
    'Repeats the failed operations that fit, the newest first, each as a new one, or marks them as dealt with.',
  input: z.object({
    how: handling,
    ...operationFilter,
    dryRun: z.boolean().default(false).describe('Only count them'),
    note,
  }),
  output: failedOutput,
  answer: (caller, { how, dryRun, ...filter }, request) =>
    caller.db.transaction().execute(async (trx) => {
      const found = await lockFailed(trx, filter, MOST_AT_ONCE + 1);
      const able = found.filter(({ isPaused }) => how === 'discard' || !isPaused);
      const failed = able.slice(0, MOST_AT_ONCE);
      if (!dryRun) for (const one of failed) await handle(trx, caller, request, how, one);
      const paused = found.length - able.length;
      return { operations: failed.length, dryRun, paused, more: able.length > MOST_AT_ONCE };
    }),
});
