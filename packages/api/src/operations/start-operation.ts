import type { Trx } from '@paddock/db/schema/tables';
import { findSwitchOfSweep } from '@paddock/db/switches';
import { type AskedTask, enqueueAsked } from '@paddock/queue/enqueue';
import type { z } from 'zod';
import { record } from '../actions/list-actions.ts';
import type { Act, Caller } from '../endpoint.ts';
import { refused } from '../problem.ts';
import { type operation, readOperation } from './operation.ts';

type Task = Omit<AskedTask, 'requestedBy'>;

/** Does what comes before the task. Rejects with a Problem if it must not run. */
type Prepare = (trx: Trx) => Promise<Task> | Task;

/**
 * Enqueues what a person asked for, in one transaction with what `prepare` does and the row in the
 * audit. Returns the operation as of then: that of a queued task of the same kind and subject, if
 * there is one. Its `askers` say whose it is.
 */
export const startOperation = (
  caller: Caller,
  request: Act,
  prepare: Prepare,
): Promise<z.output<typeof operation>> =>
  caller.db.transaction().execute(async (trx) => {
    const task = await prepare(trx);
    const id = await enqueueAsked(trx, { ...task, requestedBy: caller.person });
    await record(trx, caller, request, id);
    return readOperation(trx, id);
  });

export const startSweep = (
  caller: Caller,
  request: Act,
  prepare: Prepare,
): Promise<z.output<typeof operation>> =>
  startOperation(caller, request, async (trx) => {
    const task = await prepare(trx);
    await requireUnpaused(trx, task.kind, task.subject.id);
    return task;
  });

/** Rejects with a Problem if the sweep is paused: the task would end without having done anything. */
export async function requireUnpaused(trx: Trx, kind: string, subjectId: string): Promise<void> {
  const found = await findSwitchOfSweep(trx, kind, subjectId);
  if (found === undefined) return;
  const { by, since, note: why } = found;
  throw refused(
    `The sweep ${kind} is paused by ${by} since ${since.toISOString()}${why === null ? '' : ` (${why})`}.`,
  );
}
