import { type EndedPod, findEndedPods, markPodsDeleted } from '@paddock/db/workers/ended-pods';
import type { Database } from '@paddock/db/schema/tables';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import { podMayGo } from '@paddock/domain/workers/nothing-runs';
import type { Cluster } from '@paddock/kube/connect';
import { classifyKubeError, isTransient } from '@paddock/kube/errors';
import { deletePod, findPod } from '@paddock/kube/pods';
import { enqueueAlone } from '@paddock/queue/enqueue';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import type { Pass } from '../passes/pass.ts';

export interface DeleteEndedPodsOptions {
  db: Kysely<Database>;
  cluster: Cluster;
  events: Pick<ReconcilerEvents, 'podNotDeleted' | 'podStillRuns' | 'secretsForgotten'>;
  succeededGraceMs: number;
  failedGraceMs: number;
  /** Most ended pods of a namespace to keep until their grace is over. */
  keptPerNamespace: number;
  /** Most pods that one pass looks at. */
  cap: number;
  /** Most pods that are looked at at once. */
  atOnce?: number;
}

export interface DeletedPodsCounts {
  /** In a dry run: how many would be. */
  deleted: number;
  /** Already gone. */
  absent: number;
  /** Running, although the worker's row has ended: left alone. */
  left: number;
  failed: number;
  /**
   * Secrets that may have outlived their worker: each pass removes them again until they are known
   * to be gone.
   */
  secrets: number;
}

/**
 * Deletes the pods of workers that ended longer ago than their grace, longest ended first, then
 * those above a namespace's limit. A failure concerns one pod.
 */
export async function deleteEndedPods(
  options: DeleteEndedPodsOptions,
  pass: Pass,
): Promise<DeletedPodsCounts> {
  const {
    db,
    events,
    succeededGraceMs,
    failedGraceMs,
    keptPerNamespace: kept,
    cap,
    atOnce = 1,
  } = options;
  const { dryRun, resting: except } = pass;
  const counts: DeletedPodsCounts = { deleted: 0, absent: 0, left: 0, failed: 0, secrets: 0 };
  const graces = { succeededGraceMs, failedGraceMs };
  await pass.walk(await findEndedPods(db, { ...graces, kept, limit: cap, except }), {
    entityOf: ({ entityId }) => entityId,
    keyOf: ({ podName }) => podName,
    atOnce,
    async visit(pod) {
      const result = await deleteOne(options, pod, pass);
      counts[result]++;
      if (result === 'left' || result === 'failed') return false;
      if (pod.secretLeft) counts.secrets++;
      if (dryRun) return true;
      if (pod.secretLeft) {
        // A later pass finds the pod again, so that a Secret survives no failed task.
        await enqueueAlone(db, [removeSecretTask(pod.podName)]);
        events.secretsForgotten([pod.podName]);
      } else await markPodsDeleted(db, [pod.podName]);
      return !pod.secretLeft;
    },
  });
  return counts;
}

/** Reads the pod before deleting it: only the pod can prove that nothing runs in it. */
async function deleteOne(
  { cluster, events }: DeleteEndedPodsOptions,
  pod: EndedPod,
  { dryRun, isAway }: Pass,
): Promise<'deleted' | 'absent' | 'left' | 'failed'> {
  const name = { namespace: pod.namespace, name: pod.podName };
  try {
    const there = await findPod(cluster, name);
    if (there === undefined || (pod.podUid !== null && there.uid !== pod.podUid)) return 'absent';
    const mayGo = podMayGo(there);
    if (mayGo === 'no') {
      events.podStillRuns(pod.podName, there.phase);
      return 'left';
    }
    if (dryRun) return 'deleted';
    // A pod that never started is deleted only if unchanged. Otherwise the next pass reads it
    // again.
    const isOver = mayGo === 'now';
    const seen = isOver ? {} : { resourceVersion: there.resourceVersion };
    const result = await deletePod(cluster, { ...name, uid: there.uid, ...seen });
    if (result === 'changed' && !isOver) return 'left';
    // For an ended pod, `changed` means that another pod has the name, so ours is gone.
    return result === 'deleted' ? 'deleted' : 'absent';
  } catch (error) {
    const failure = classifyKubeError(error);
    events.podNotDeleted(pod.podName, failure);
    if (isTransient(failure)) await isAway('cluster');
    return 'failed';
  }
}
