import { entityInPoolBreaker, poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import { noteFailure, type Noting } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { POD_REFUSED } from '@paddock/db/breakers/failure-classes';
import { closeStartedPool } from '@paddock/db/matching/started-pools';
import { noteOutdatedRunner, noteWorkerFailure } from '@paddock/db/workers/worker-failures';
import type { PodTransition } from '@paddock/db/workers/worker-pods';
import { OUTDATED_RUNNER, START_FAILURES } from '@paddock/domain/workers/stop-reasons';
import { outdatedMessage } from './note-refused-version.ts';

/** What the cluster or a person does to a pod does not count against its pool. */
const NOT_THE_POOLS_FAULT = new Set(['evicted', 'node_lost', 'pod_deleted']);

/**
 * What keeps a pod from starting and is the pool's fault. A lack of nodes is not: the matcher
 * limits such pools itself.
 */
const POOLS_FAULT = new Set<string>([...START_FAILURES, 'crash_loop']);

/**
 * What a trial shows within seconds, and what may pass unseen: the image, the Secret, room on the
 * node.
 */
const FAST_TO_TRY: readonly string[] = [...START_FAILURES, 'node_refused'];
/** An image that works again waits at most this long for the next trial. */
const LONGEST_START_PAUSE_MS = 60_000;

function rulesFor({ db, breakerRules }: Noting, failureClass: string): Noting {
  if (!FAST_TO_TRY.includes(failureClass)) return { db, breakerRules };
  return {
    db,
    breakerRules: {
      ...breakerRules,
      longestPauseMs: Math.min(LONGEST_START_PAUSE_MS, breakerRules.longestPauseMs),
    },
  };
}

/**
 * Pods that do not start, and runners that fail before a job, count against their pool; runners
 * that end well after a job count for it. A runner without a known job counts for neither: it may
 * have had none. Whether the cluster accepts more pods, as under a full quota, does not count here.
 *
 * A kubelet's report before the first container runs cannot be an entity's fault, so it counts
 * against the pool for every entity. An entity's jobs can make runners fail and containers crash:
 * these failures hold back other entities only once two entities have had them.
 */
export async function noteHealth(
  parts: Noting,
  {
    podName,
    pool,
    entityId,
    was,
    status,
    failedIdle,
    hadJob,
    failureReason,
    newlyStuck,
    wasStuck,
    isWatched,
  }: PodTransition,
): Promise<void> {
  const subject = poolBreaker(pool);
  const note = async (failureClass: string, message: string): Promise<void> => {
    const noting = rulesFor(parts, failureClass);
    if (FAST_TO_TRY.includes(failureClass))
      await noteFailure(noting, { subject, failureClass, message });
    else await noteWorkerFailure(noting, { podName, failureClass, message });
  };
  const reason = failureReason ?? 'unknown';
  if (newlyStuck !== null && POOLS_FAULT.has(newlyStuck))
    await note(newlyStuck, `the pod ${podName} does not start: ${newlyStuck}`);
  if (failedIdle && reason === OUTDATED_RUNNER) {
    await noteOutdatedRunner(parts, { podName, message: outdatedMessage(podName) });
  } else if (failedIdle && !NOT_THE_POOLS_FAULT.has(reason)) {
    await note(reason, `the runner ${podName} failed before it had a job: ${reason}`);
  }
  if (isWatched && was === 'pending' && status === 'running')
    await closeStartedPool(parts.db, { podName, wasStuck }, FAST_TO_TRY);
  if (isWatched && status === 'completed' && hadJob) {
    await noteSuccess(parts.db, [subject, entityInPoolBreaker({ pool, entityId })], {
      except: POD_REFUSED,
    });
  }
}
