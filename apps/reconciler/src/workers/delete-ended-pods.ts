import {
  type EndedPod,
  findEndedPods,
  findSurplusPods,
  markPodsDeleted,
} from '@paddock/db/workers/ended-pods';
import type { Database } from '@paddock/db/schema/tables';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import type { Cluster } from '@paddock/kube/connect';
import { classifyKubeError, isAway } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { deletePod, findPod } from '@paddock/kube/pods';
import { enqueueAlone } from '@paddock/queue/enqueue';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';

export interface DeleteEndedPodsOptions {
  db: Kysely<Database>;
  cluster: Cluster;
  events: Pick<ReconcilerEvents, 'podNotDeleted' | 'podStillRuns' | 'secretsForgotten'>;
  succeededGraceMs: number;
  failedGraceMs: number;
  /** Most ended pods of a namespace to keep until their grace is over. */
  keptPerNamespace: number;
  /** Most pods that one pass deletes. */
  cap: number;
  batch: number;
  /** Only read the pods. `deleted` counts those that would be deleted. */
  dryRun: boolean;
}

export interface DeletedPodsCounts {
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
 * those above a namespace's limit. A failure concerns one pod, but if the API server is away, the
 * pass ends: the next one finds the rest.
 */
export async function deleteEndedPods(
  options: DeleteEndedPodsOptions,
  signal: AbortSignal,
): Promise<DeletedPodsCounts> {
  const { db, succeededGraceMs, failedGraceMs, keptPerNamespace, cap, batch } = options;
  const counts: DeletedPodsCounts = { deleted: 0, absent: 0, left: 0, failed: 0, secrets: 0 };
  let after: EndedPod | undefined;
  while (!signal.aborted && counts.deleted < cap) {
    const pods = await findEndedPods(db, { succeededGraceMs, failedGraceMs, limit: batch, after });
    if ((await deleteBatch(options, pods, counts, signal)) === 'away') return counts;
    after = pods.at(-1);
    if (pods.length < batch) break;
  }
  const limit = Math.max(0, cap - counts.deleted);
  const surplus = await findSurplusPods(db, {
    succeededGraceMs,
    failedGraceMs,
    kept: keptPerNamespace,
    limit,
  });
  for (let from = 0; from < surplus.length; from += batch) {
    if ((await deleteBatch(options, surplus.slice(from, from + batch), counts, signal)) === 'away')
      break;
  }
  return counts;
}

async function deleteBatch(
  options: DeleteEndedPodsOptions,
  pods: readonly EndedPod[],
  counts: DeletedPodsCounts,
  signal: AbortSignal,
): Promise<'done' | 'away'> {
  const { db, events, cap, dryRun } = options;
  const gone: EndedPod[] = [];
  let outcome: 'done' | 'away' = 'done';
  for (const pod of pods) {
    if (signal.aborted || counts.deleted >= cap || outcome === 'away') break;
    const result = await deleteOne(options, pod);
    if (result === 'away') outcome = result;
    counts[result === 'away' ? 'failed' : result]++;
    if (result === 'deleted' || result === 'absent') gone.push(pod);
  }
  const withSecret = gone.filter(({ secretLeft }) => secretLeft).map(({ podName }) => podName);
  counts.secrets += withSecret.length;
  if (dryRun) return outcome;
  if (withSecret.length > 0) {
    await enqueueAlone(db, withSecret.map(removeSecretTask));
    events.secretsForgotten(withSecret);
  }
  // The next pass finds the others again, so that a Secret survives no failed task.
  await markPodsDeleted(
    db,
    gone.filter(({ secretLeft }) => !secretLeft).map(({ podName }) => podName),
  );
  return outcome;
}

/** Reads the pod before deleting it: only the pod can prove that nothing runs in it. */
async function deleteOne(
  { cluster, events, dryRun }: DeleteEndedPodsOptions,
  pod: EndedPod,
): Promise<'deleted' | 'absent' | 'left' | 'failed' | 'away'> {
  const name = { namespace: pod.namespace, name: pod.podName };
  let isFound = false;
  try {
    const there = await findPod(cluster, name);
    isFound = true;
    if (there === undefined || (pod.podUid !== null && there.uid !== pod.podUid)) return 'absent';
    const isOver = hasEnded(there);
    if (!isOver && hasStarted(there)) {
      events.podStillRuns(pod.podName, there.phase);
      return 'left';
    }
    if (dryRun) return 'deleted';
    // A pod that never started is deleted only if unchanged. Otherwise the next pass reads it
    // again.
    const seen = isOver ? {} : { resourceVersion: there.resourceVersion };
    const result = await deletePod(cluster, { ...name, uid: there.uid, ...seen });
    if (result === 'changed' && !isOver) return 'left';
    // For an ended pod, `changed` means that another pod has the name, so ours is gone.
    return result === 'deleted' ? 'deleted' : 'absent';
  } catch (error) {
    const failure = classifyKubeError(error);
    events.podNotDeleted(pod.podName, failure);
    // A deletion may hang because of this pod, for example in a webhook. A read may not.
    return isAway(failure) && !isFound ? 'away' : 'failed';
  }
}

/** A pod made after its worker ended has no Secret and stays Pending for ever. */
const hasStarted = ({ phase, runningAt }: ObservedPod): boolean =>
  phase !== 'Pending' || runningAt !== undefined;

/** The pod of a lost node has failed although its containers seem to run. */
const hasEnded = ({ phase, containersTerminated }: ObservedPod): boolean =>
  phase === 'Succeeded' || phase === 'Failed' || containersTerminated;
