import type { Database } from '@paddock/db/schema/tables';
import { failUnstartedWorker } from '@paddock/db/workers/workers';
import { enqueue } from '@paddock/queue/enqueue';
import type { Kysely } from 'kysely';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';

/** Why a worker ended before it had a pod: `workers.stop_reason`. */
export type FailReason = 'registration_interrupted' | 'pool_unknown' | 'provisioning_failed';

/**
 * Ends a worker that has no pod, and has its Secret removed if it has one; its registration, if there may be one, is left to the sweep.
 * The end wakes the matcher, which reserves another worker if one is still wanted. False: the row had ended, or its pod was seen meanwhile.
 */
export async function failWorker(db: Kysely<Database>, podName: string, why: { reason: FailReason; message: string }): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const ended = await failUnstartedWorker(trx, podName, why);
    if (ended) await enqueue(trx, [removeSecretTask(podName)]);
    return ended;
  });
}
