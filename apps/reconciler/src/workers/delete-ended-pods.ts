import { type EndedPod, findEndedPods, findSurplusPods, markPodsDeleted } from '@paddock/db/workers/ended-pods';
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
  /** Most ended pods of a namespace that are kept until their grace is over. */
  keptPerNamespace: number;
  /** The most pods that one pass deletes. */
  cap: number;
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
  /** Secrets that were to go at their worker's end and may be there still: they are removed again, until somebody has seen them go. */
  secrets: number;
}

/**
 * Deletes the pods of workers that ended longer ago than their grace, the longest ended first, then those of which a namespace has too many
 * (E7). A pod that cannot be deleted holds up no other; an API server that is away ends the pass, for the next one finds them all again.
 */
export async function deleteEndedPods(options: DeleteEndedPodsOptions, signal: AbortSignal): Promise<DeletedPodsCounts> {
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
  const surplus = await findSurplusPods(db, { succeededGraceMs, failedGraceMs, kept: keptPerNamespace, limit });
  for (let from = 0; from < surplus.length; from += batch) {
    if ((await deleteBatch(options, surplus.slice(from, from + batch), counts, signal)) === 'away') break;
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
  // The others are found again by the next pass, so that no failed task is the last word on a Secret.
  await markPodsDeleted(
    db,
    gone.filter(({ secretLeft }) => !secretLeft).map(({ podName }) => podName),
  );
  return outcome;
}

/** Looks before it deletes: the row's end is history, and only the pod itself can say that nothing runs in it any more. */
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
    // What never started goes as it was seen: if anything has become of it since, the next pass looks again.
    const seen = isOver ? {} : { resourceVersion: there.resourceVersion };
    const result = await deletePod(cluster, { ...name, uid: there.uid, ...seen });
    if (result === 'changed' && !isOver) return 'left';
    // Otherwise `changed` means that another pod has taken the name, so ours is gone.
    return result === 'deleted' ? 'deleted' : 'absent';
  } catch (error) {
    const failure = classifyKubeError(error);
    events.podNotDeleted(pod.podName, failure);
    // A deletion may hang for this pod's own sake, such as a webhook's; a look may not.
    return isAway(failure) && !isFound ? 'away' : 'failed';
  }
}

/** A pod that was made when its worker had ended already has no Secret, and waits for ever (C6). */
const hasStarted = ({ phase, runningAt }: ObservedPod): boolean => phase !== 'Pending' || runningAt !== undefined;

/** The pod of a lost node has failed although its containers look as if they ran: the row's end has other proof then. */
const hasEnded = ({ phase, containersTerminated }: ObservedPod): boolean =>
  phase === 'Succeeded' || phase === 'Failed' || containersTerminated;
