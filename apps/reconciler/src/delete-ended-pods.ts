import { type EndedPod, findEndedPods, markPodsDeleted } from '@paddock/db/ended-pods';
import type { Database } from '@paddock/db/tables';
import type { Cluster } from '@paddock/kube/connect';
import { classifyKubeError } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { deletePod, findPod } from '@paddock/kube/pods';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from './events.ts';

export interface DeleteEndedPodsOptions {
  db: Kysely<Database>;
  cluster: Cluster;
  events: Pick<ReconcilerEvents, 'podNotDeleted' | 'podStillRuns'>;
  succeededGraceMs: number;
  failedGraceMs: number;
  batch: number;
  /** Only looks at the pods: `deleted` counts those that would go. */
  dryRun: boolean;
}

export interface DeletedPodsCounts {
  deleted: number;
  /** Gone before we came. */
  absent: number;
  /** Begun and not ended, whatever the worker's row says: left alone (P2). */
  left: number;
  failed: number;
}

/** Deletes the pods of workers that ended longer ago than their grace (E7), the longest ended first. A pod that cannot be deleted holds up no other. */
export async function deleteEndedPods(options: DeleteEndedPodsOptions, signal: AbortSignal): Promise<DeletedPodsCounts> {
  const { db, succeededGraceMs, failedGraceMs, batch, dryRun } = options;
  const counts: DeletedPodsCounts = { deleted: 0, absent: 0, left: 0, failed: 0 };
  let after: EndedPod | undefined;
  while (!signal.aborted) {
    const pods = await findEndedPods(db, { succeededGraceMs, failedGraceMs, limit: batch, after });
    const gone: string[] = [];
    for (const pod of pods) {
      if (signal.aborted) break;
      const result = await deleteOne(options, pod);
      counts[result]++;
      if (result === 'deleted' || result === 'absent') gone.push(pod.podName);
    }
    if (!dryRun) await markPodsDeleted(db, gone);
    after = pods.at(-1);
    if (pods.length < batch) break;
  }
  return counts;
}

/** Looks before it deletes: the row's end is history, and only the pod itself can say that nothing runs in it any more. */
async function deleteOne({ cluster, events, dryRun }: DeleteEndedPodsOptions, pod: EndedPod): Promise<keyof DeletedPodsCounts> {
  const name = { namespace: pod.namespace, name: pod.podName };
  try {
    const there = await findPod(cluster, name);
    if (there === undefined || (pod.podUid !== null && there.uid !== pod.podUid)) return 'absent';
    const isOver = hasEnded(there);
    if (!isOver && hasStarted(there)) {
      events.podStillRuns(pod.podName, there.phase);
      return 'left';
    }
    if (dryRun) return 'deleted';
    // What never started goes as it was seen: if anything has become of it since, the next pass looks again.
    const seen = isOver ? {} : { resourceVersion: there.resourceVersion };
    const result = await deletePod(cluster, { ...name, uid: there.uid, ...seen });
    if (result === 'changed' && !isOver) return 'left';
    // Otherwise `changed` means that another pod has taken the name, so ours is gone.
    return result === 'deleted' ? 'deleted' : 'absent';
  } catch (error) {
    events.podNotDeleted(pod.podName, classifyKubeError(error));
    return 'failed';
  }
}

/** A pod that was made when its worker had ended already has no Secret, and waits for ever (C6). */
const hasStarted = ({ phase, runningAt }: ObservedPod): boolean => phase !== 'Pending' || runningAt !== undefined;

/** The pod of a lost node has failed although its containers look as if they ran: the row's end has other proof then. */
const hasEnded = ({ phase, containersTerminated }: ObservedPod): boolean =>
  phase === 'Succeeded' || phase === 'Failed' || containersTerminated;
