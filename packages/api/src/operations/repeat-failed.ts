import type { Database } from '@paddock/db/schema/tables';
import { findSwitchOfSweep } from '@paddock/db/switches';
import { SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { enqueueAsked } from '@paddock/queue/enqueue';
import type { FailedOperation } from '@paddock/queue/operations';
import type { Transaction } from 'kysely';
import { requireUnpaused } from './start-sweep.ts';

const SWEEP_KINDS: ReadonlySet<string> = new Set(SWEEPS);

/** Of dry runs nothing is paused, and of tasks that are no sweeps neither. */
const mayBePaused = ({ kind, subject }: FailedOperation): boolean =>
  SWEEP_KINDS.has(kind) && subject.type !== 'dry-run';

/** Whether its sweep is paused, so that it would end without having done anything. */
export const isPaused = async (
  trx: Transaction<Database>,
  failed: FailedOperation,
): Promise<boolean> =>
  mayBePaused(failed) &&
  (await findSwitchOfSweep(trx, failed.kind, failed.subject.id)) !== undefined;

/** Rejects with a Problem that says who has paused it. */
export const requireRepeatable = async (
  trx: Transaction<Database>,
  failed: FailedOperation,
): Promise<void> => {
  if (mayBePaused(failed)) await requireUnpaused(trx, failed.kind, failed.subject.id);
};

/** Enqueues the task of a failed operation again, with all attempts. Returns the new one's id. */
export const repeatFailed = (
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
