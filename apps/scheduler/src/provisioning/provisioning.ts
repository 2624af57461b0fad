import type { Reaches } from '@paddock/db/outages';
import { failUnstartedWorker, type WorkerToProvision } from '@paddock/db/workers/workers';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import type { GitHub } from '@paddock/github/connect';
import type { RunnerGroups } from '@paddock/github/runner-groups';
import type { Cluster } from '@paddock/kube/connect';
import { enqueue } from '@paddock/queue/enqueue';
import { done, type Outcome } from '@paddock/queue/kind';
import type { FailReason, SchedulerEvents } from '../events.ts';
import type { NotingFailures } from '../following/note-health.ts';

/** The dependencies of every phase of a worker's making. */
export interface Provisioning extends NotingFailures {
  readonly github: GitHub;
  readonly runnerGroups: RunnerGroups;
  readonly cluster: Cluster;
  readonly reach: Reaches;
  readonly events: SchedulerEvents;
}

/**
 * Ends a worker without a pod and enqueues the removal of its Secret. The reconciler deletes a
 * registration that is left. The end wakes the matcher, which reserves another worker if a job
 * still waits. Changes nothing if the row has ended or has a pod by now.
 */
export async function failWorker(
  { db, events }: Pick<Provisioning, 'db' | 'events'>,
  worker: WorkerToProvision,
  why: { reason: FailReason; message: string },
): Promise<Outcome> {
  const { podName, deliveryGuid } = worker;
  const hasEnded = await db.transaction().execute(async (trx) => {
    const ended = await failUnstartedWorker(trx, podName, why);
    if (ended) await enqueue(trx, [removeSecretTask(podName, deliveryGuid)]);
    return ended;
  });
  if (hasEnded) events.workerNotStarted(worker, why.reason);
  return done({ ended: why.reason });
}
