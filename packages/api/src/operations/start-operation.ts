import type { Database } from '@paddock/db/schema/tables';
import { type AskedTask, enqueueAsked } from '@paddock/queue/enqueue';
import type { Transaction } from 'kysely';
import type { z } from 'zod';
import { record, type Request } from '../actions/act.ts';
import type { Caller } from '../endpoint.ts';
import { readOperation } from './find-operation.ts';
import type { operation } from './operation.ts';

type Task = Omit<AskedTask, 'requestedBy'>;

/** Does what comes before the task. Rejects with a Problem if it must not run. */
export type Prepare = (trx: Transaction<Database>) => Promise<Task> | Task;

/**
 * Enqueues what a person asked for, in one transaction with what `prepare` does and the row in the
 * audit. Returns the operation as of then: that of a queued task of the same kind and subject, if
 * there is one. Its `askers` say whose it is.
 */
export const startOperation = (
  caller: Caller,
  request: Request,
  prepare: Prepare,
): Promise<z.output<typeof operation>> =>
  caller.db.transaction().execute(async (trx) => {
    const task = await prepare(trx);
    const id = await enqueueAsked(trx, { ...task, requestedBy: caller.person });
    await record(trx, caller, request, id);
    return readOperation(trx, id);
  });
