import type { Database } from '@paddock/db/schema/tables';
import { failUnstartedWorker, type WorkerToProvision } from '@paddock/db/workers/workers';
import { enqueue } from '@paddock/queue/enqueue';
import type { Kysely } from 'kysely';
import type { SchedulerEvents } from '../events.ts';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';

/** Why a worker ended before it had a pod: `workers.stop_reason`. */
export type FailReason = 'registration_interrupted' | 'pool_unknown' | 'pool_closed' | 'runner_group_open' | 'provisioning_failed';

/**
 * Ends a worker that has no pod, and has its Secret removed if it has one; its registration, if there may be one, is left to the sweep.
 * The end wakes the matcher, which reserves another worker if one is still wanted. Nothing happens if the row had ended, or its pod was seen meanwhile.
 */
export async function failWorker(
  { db, events }: { db: Kysely<Database>; events: Pick<SchedulerEvents, 'failed'> },
  worker: WorkerToProvision,
  why: { reason: FailReason; message: string },
): Promise<void> {
  const { podName } = worker;
  const hasEnded = await db.transaction().execute(async (trx) => {
    const ended = await failUnstartedWorker(trx, podName, why);
    if (ended) await enqueue(trx, [removeSecretTask(podName)]);
    return ended;
  });
  if (hasEnded) events.failed(worker, why.reason);
}
