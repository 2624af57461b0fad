import { type EndedPod, findEndedPods, markPodsDeleted } from '@paddock/db/workers/ended-pods';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import { podMayGo } from '@paddock/domain/workers/may-end';
import { classifyKubeError, isUnanswered } from '@paddock/kube/errors';
import { deletePod, findPod } from '@paddock/kube/pods';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { done, type Outcome } from '@paddock/queue/kind';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';

/**
 * Deletes the pods of workers that ended longer ago than their grace, longest ended first, then
 * those above a namespace's limit. A failure concerns one pod.
 */
export async function deleteEndedPods(context: SweepContext, pass: Pass): Promise<Outcome> {
  const { db, events, config } = context;
  const counts = {
    /** In a dry run: how many would be. */
    deleted: 0,
    /** Already gone. */
    absent: 0,
    /** Running, although the worker's row has ended: left alone. */
    left: 0,
    failed: 0,
  };
  /** Whose Secrets may have outlived them: removed again by each pass until they are gone. */
  const secrets: string[] = [];
  const ended = await findEndedPods(db, {
    succeededGraceMs: config.podGraceSucceededMs,
    failedGraceMs: config.podGraceFailedMs,
    kept: config.endedPodsPerNamespace,
    limit: config.podsOfPass,
    except: pass.resting,
  });
  await pass.walk(ended, {
    entityOf: ({ entityId }) => entityId,
    keyOf: ({ podName }) => podName,
    async visit(pod) {
      const result = await deleteOne(context, pod, pass);
      counts[result]++;
      if (result === 'left' || result === 'failed') return false;
      if (pod.secretLeft) secrets.push(pod.podName);
      if (pass.dryRun) return true;
      // With a Secret left, a later pass finds the pod again, so that it survives no failed task.
      if (!pod.secretLeft) await markPodsDeleted(db, [pod.podName]);
      return !pod.secretLeft;
    },
  });
  const again = pass.dryRun ? [] : secrets;
  await enqueueAlone(
    db,
    again.map((podName) => removeSecretTask(podName)),
  );
  events.secretsForgotten(again);
  return done({ ...counts, secrets: secrets.length });
}

/** Reads the pod before deleting it: only the pod can prove that nothing runs in it. */
async function deleteOne(
  { cluster, events }: SweepContext,
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
    if (isUnanswered(failure)) await isAway('cluster');
    return 'failed';
  }
}
