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
}

export interface DeletedPodsCounts {
  deleted: number;
  /** Gone before we came. */
  absent: number;
  /** Not ended, whatever the worker's row says: left alone (P2). */
  left: number;
  failed: number;
}

/** Deletes the pods of workers that ended longer ago than their grace (E7), the longest ended first. A pod that cannot be deleted holds up no other. */
export async function deleteEndedPods(options: DeleteEndedPodsOptions, signal: AbortSignal): Promise<DeletedPodsCounts> {
  const { db, succeededGraceMs, failedGraceMs, batch } = options;
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
    await markPodsDeleted(db, gone);
    after = pods.at(-1);
    if (pods.length < batch) break;
  }
  return counts;
}

/** Looks before it deletes: the row's end is history, and only the pod itself can say that nothing runs in it any more. */
async function deleteOne({ cluster, events }: DeleteEndedPodsOptions, pod: EndedPod): Promise<keyof DeletedPodsCounts> {
  const name = { namespace: pod.namespace, name: pod.podName };
  try {
    const there = await findPod(cluster, name);
    if (there === undefined || (pod.podUid !== null && there.uid !== pod.podUid)) return 'absent';
    if (!hasEnded(there)) {
      events.podStillRuns(pod.podName, there.phase);
      return 'left';
    }
    // `changed`: another pod has taken the name meanwhile, so ours is gone.
    return (await deletePod(cluster, { ...name, uid: there.uid })) === 'deleted' ? 'deleted' : 'absent';
  } catch (error) {
    events.podNotDeleted(pod.podName, classifyKubeError(error));
    return 'failed';
  }
}

/** The pod of a lost node has failed although its containers look as if they ran: the row's end has other proof then. */
const hasEnded = ({ phase, containersTerminated }: ObservedPod): boolean =>
  phase === 'Succeeded' || phase === 'Failed' || containersTerminated;
