import type { Database } from '@paddock/db/schema/tables';
import { type FailedOperation, lockFailed } from '@paddock/queue/operations';
import type { Transaction } from 'kysely';
import { refused } from '../problem.ts';
import { readOperation } from './find-operation.ts';

/** Locks one failed operation. Rejects with a Problem if it is none, or somebody dealt with it. */
export async function lockOneFailed(
  trx: Transaction<Database>,
  id: string,
): Promise<FailedOperation> {
  const { status } = await readOperation(trx, id);
  if (status !== 'ERROR') throw refused(`The operation has not failed: it is ${status}.`);
  const [failed] = await lockFailed(trx, { id }, 1);
  if (failed !== undefined) return failed;
  const { handled } = await readOperation(trx, id);
  const what = handled?.retriedAs === null ? 'discarded' : `retried as ${handled?.retriedAs}`;
  throw refused(`${handled?.by ?? 'Somebody'} has dealt with it before: it was ${what}.`);
}
