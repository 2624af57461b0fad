import type { Database } from '@paddock/db/schema/tables';
import { findSwitchOfSweep } from '@paddock/db/switches';
import { type AskedTask, enqueueAsked } from '@paddock/queue/enqueue-asked';
import type { Transaction } from 'kysely';
import type { z } from 'zod';
import { record, type Request } from '../actions/act.ts';
import type { Caller } from '../endpoint.ts';
import { refused } from '../problem.ts';
import { readOperation } from './find-operation.ts';
import type { operation } from './operation.ts';

type Task = Omit<AskedTask, 'requestedBy'>;

/**
 * Enqueues what a person asked for, in one transaction with what `prepare` does and the row in the
 * audit. Returns the operation as of then: that of a queued task of the same kind and subject, if
 * there is one. Its `askers` say whose it is.
 */
export const startOperation = (
  caller: Caller,
  request: Request,
  prepare: (trx: Transaction<Database>) => Promise<Task> | Task,
): Promise<z.input<typeof operation>> =>
  caller.db.transaction().execute(async (trx) => {
    const task = await prepare(trx);
    const id = await enqueueAsked(trx, { ...task, requestedBy: caller.person });
    await record(trx, caller, request, id);
    return readOperation(trx, id);
  });

/** Rejects with a Problem if the sweep is paused: the task would end without having done anything. */
export async function requireUnpaused(
  trx: Transaction<Database>,
  kind: string,
  subjectId: string,
): Promise<void> {
  const found = await findSwitchOfSweep(trx, kind, subjectId);
  if (found === undefined) return;
  const { by, since, note } = found;
  throw refused(
    `It is paused by ${by} since ${since.toISOString()}${note === null ? '' : ` (${note})`}. A dry run is possible.`,
  );
}
