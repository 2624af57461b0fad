import { AWAY, noteFailure, noteSuccess, type Noting, ownCluster } from '@paddock/db/matching/breakers';
import { isAway, KubeError } from '@paddock/kube/errors';
import type { Handler } from '@paddock/queue/kind';
import { snooze } from '@paddock/queue/outcome';

/** Until the breaker opens, which others' failures see to as well. */
const LOOK_AGAIN_MS = 1_000;

/**
 * The same handler, for which an API server that is away is no failure of the task: the cluster's breaker counts it and holds the task,
 * which costs no attempt.
 */
export function waitingForCluster(noting: Noting, handler: Handler): Handler {
  // Only to spare a statement: whoever makes a pod closes the breaker, too.
  let hasFailed = false;
  return async (task, signal) => {
    try {
      const outcome = await handler(task, signal);
      if (hasFailed) await noteSuccess(noting.db, [ownCluster], { only: AWAY });
      hasFailed = false;
      return outcome;
    } catch (error) {
      if (!(error instanceof KubeError) || !isAway(error.failure)) throw error;
      hasFailed = true;
      const { message, retryAfterMs = 0 } = error.failure;
      const hold = await noteFailure(noting, { subject: ownCluster, failureClass: AWAY, message });
      if (hold === undefined) return snooze(Math.max(retryAfterMs, LOOK_AGAIN_MS), message);
      return snooze(Math.max(retryAfterMs, hold.waitMs), message, { heldBy: hold.heldBy });
    }
  };
}
