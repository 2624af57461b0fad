import { entityInPoolBreaker, poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import { noteFailure, type Noting } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { POD_REFUSED } from '@paddock/db/breakers/failure-classes';
import { closeStartedPool } from '@paddock/db/matching/started-pools';
import { noteOutdatedRunner, noteWorkerFailure } from '@paddock/db/workers/worker-failures';
import { OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';
import type { PodTransition } from '@paddock/db/workers/worker-pods';
import { START_FAILURES } from '@paddock/domain/workers/stop-reasons';
import { outdatedMessage } from './note-refused-version.ts';

/** What the cluster or a person does to a pod says nothing of its pool. */
const NOBODYS_FAULT = new Set(['evicted', 'node_lost', 'pod_deleted']);

/**
 * What keeps a pod from starting and is its pool's doing. A lack of nodes is no failure: the
 * matcher has a gate for that (C4).
 */
const POOLS_FAULT = new Set(['image_pull', 'container_config', 'crash_loop']);

/**
 * What a trial shows within seconds, and what passes without a word of ours: the image is there
 * again, the Secret, room on the node.
 */
const SHOWN_AT_ONCE: readonly string[] = [...START_FAILURES, 'node_refused'];
/** So long an image that is back waits for the next trial, at most. */
const LONGEST_START_PAUSE_MS = 60_000;

function rulesFor({ db, breakerRules }: Noting, failureClass: string): Noting {
  if (!SHOWN_AT_ONCE.includes(failureClass)) return { db, breakerRules };
  return { db, breakerRules: { ...breakerRules, longestPauseMs: Math.min(LONGEST_START_PAUSE_MS, breakerRules.longestPauseMs) } };
}

/**
 * Pods that do not start and runners that fail before they have had a job speak against their pool,
 * those that end well speak for it (C11). One whose job nobody has heard of says nothing: it may
 * have had none. Whether the cluster takes more pods than those, a full quota for one, is another
 * matter.
 *
 * What a kubelet says before a pod's first container has begun no entity can bring about, so it is
 * the pool's whosever worker it met. How a runner ends its entity decides as well, and its
 * containers' crashes: these count for others only once two entities have met them.
 */
export async function noteHealth(
  parts: Noting,
  { podName, pool, entityId, was, status, failedIdle, hadJob, failureReason, newlyStuck, wasStuck, isWatched }: PodTransition,
): Promise<void> {
  const subject = poolBreaker(pool);
  const note = async (failureClass: string, message: string): Promise<void> => {
    const noting = rulesFor(parts, failureClass);
    if (SHOWN_AT_ONCE.includes(failureClass)) await noteFailure(noting, { subject, failureClass, message });
    else await noteWorkerFailure(noting, { podName, failureClass, message });
  };
  const reason = failureReason ?? 'unknown';
  if (newlyStuck !== null && POOLS_FAULT.has(newlyStuck)) await note(newlyStuck, `the pod ${podName} does not start: ${newlyStuck}`);
  if (failedIdle && reason === OUTDATED_RUNNER) {
    await noteOutdatedRunner(parts, { podName, message: outdatedMessage(podName) });
  } else if (failedIdle && !NOBODYS_FAULT.has(reason)) {
    await note(reason, `the runner ${podName} failed before it had a job: ${reason}`);
  }
  if (isWatched && was === 'pending' && status === 'running') await closeStartedPool(parts.db, { podName, wasStuck }, SHOWN_AT_ONCE);
  if (isWatched && status === 'completed' && hadJob) {
    await noteSuccess(parts.db, [subject, entityInPoolBreaker({ pool, entityId })], { except: POD_REFUSED });
  }
}
