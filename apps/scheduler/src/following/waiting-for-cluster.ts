import { AWAY } from '@paddock/db/breakers/failure-classes';
import { noteFailure, type Noting } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { ownCluster } from '@paddock/db/breakers/breaker-subjects';
import type { Cluster } from '@paddock/kube/connect';
import { isAway, KubeError } from '@paddock/kube/errors';
import type { Handler } from '@paddock/queue/kind';
import { snooze } from '@paddock/queue/outcome';
import { isClusterAway } from '../is-cluster-away.ts';

/** Used until the breaker opens; other tasks' failures help to open it. */
const RETRY_MS = 1_000;
/** For a node or a webhook, whose return no event shows. */
const RETRY_ONE_MS = 15_000;

/**
 * Wraps a handler so that its task waits while the cluster does not answer, without spending an
 * attempt. If the API server is away, the cluster's breaker counts it and holds the task. If only a
 * node or a webhook is away, the task waits alone.
 */
export function waitingForCluster(
  parts: Noting & { readonly cluster: Cluster },
  handler: Handler,
): Handler {
  // Saves a statement: each pod that is created closes the breaker as well.
  let hasFailed = false;
  return async (task, signal) => {
    try {
      const outcome = await handler(task, signal);
      if (hasFailed) await noteSuccess(parts.db, [ownCluster], { only: AWAY });
      hasFailed = false;
      return outcome;
    } catch (error) {
      if (!(error instanceof KubeError) || !isAway(error.failure)) throw error;
      const { message, retryAfterMs = 0 } = error.failure;
      if (!(await isClusterAway(parts.cluster, error.failure, signal)))
        return snooze(Math.max(retryAfterMs, RETRY_ONE_MS), message);
      hasFailed = true;
      const hold = await noteFailure(parts, { subject: ownCluster, failureClass: AWAY, message });
      if (hold === undefined) return snooze(Math.max(retryAfterMs, RETRY_MS), message);
      return snooze(Math.max(retryAfterMs, hold.waitMs), message, { heldBy: hold.heldBy });
    }
  };
}
