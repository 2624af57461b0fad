import type { Reaches } from '@paddock/db/outages';
import { isAway, KubeError } from '@paddock/kube/errors';
import type { Handler } from '@paddock/queue/kind';
import { snooze } from '@paddock/queue/outcome';
import { ifClusterAway } from '../if-away.ts';

/** For a node or a webhook, whose return no event shows. */
const RETRY_ONE_MS = 15_000;

/**
 * Wraps a handler so that its task waits while the cluster, a node or a webhook does not answer,
 * without spending an attempt.
 */
export const waitingForCluster =
  ({ reach }: { readonly reach: Reaches }, handler: Handler): Handler =>
  async (task, signal) => {
    try {
      return await handler(task, signal);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const { failure } = error;
      const away = await ifClusterAway(reach, failure);
      if (away !== undefined) return away;
      if (!isAway(failure)) throw error;
      return snooze(Math.max(failure.retryAfterMs ?? 0, RETRY_ONE_MS), failure.message);
    }
  };
