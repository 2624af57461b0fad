import { AWAY } from '@paddock/db/breakers/failure-classes';
import { noteFailure, type Noting } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { ownCluster } from '@paddock/db/breakers/breaker-subjects';
import type { Cluster } from '@paddock/kube/connect';
import { isAway, KubeError } from '@paddock/kube/errors';
import type { Handler } from '@paddock/queue/kind';
import { snooze } from '@paddock/queue/outcome';
import { isClusterAway } from '../cluster-away.ts';

/** Until the breaker opens, which others' failures see to as well. */
const LOOK_AGAIN_MS = 1_000;
/** For a node or a webhook, which nothing tells us is back. */
const LOOK_AT_ONE_MS = 15_000;

/**
 * The same handler, for which a cluster that does not answer is no failure of the task: it waits,
 * which costs no attempt. Where the API server is away, the cluster's breaker counts that and holds
 * the task. One pod's node or one namespace's webhook says nothing of other pools: for these only
 * the task waits.
 */
export function waitingForCluster(parts: Noting & { readonly cluster: Cluster }, handler: Handler): Handler {
  // Only to spare a statement: each pod that is made closes the breaker, too.
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
      if (!(await isClusterAway(parts.cluster, error.failure, signal))) return snooze(Math.max(retryAfterMs, LOOK_AT_ONE_MS), message);
      hasFailed = true;
      const hold = await noteFailure(parts, { subject: ownCluster, failureClass: AWAY, message });
      if (hold === undefined) return snooze(Math.max(retryAfterMs, LOOK_AGAIN_MS), message);
      return snooze(Math.max(retryAfterMs, hold.waitMs), message, { heldBy: hold.heldBy });
    }
  };
}
