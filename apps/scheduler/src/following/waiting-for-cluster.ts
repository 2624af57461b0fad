import { isAway, KubeError } from '@paddock/kube/errors';
import type { Handler } from '@paddock/queue/kind';
import { snooze } from '@paddock/queue/outcome';

const AWAY_MS = 15_000;

/** The same handler, for which an API server that is away is no failure of the task: it waits, and costs no attempt. */
export const waitingForCluster =
  (handler: Handler): Handler =>
  async (task, signal) => {
    try {
      return await handler(task, signal);
    } catch (error) {
      if (!(error instanceof KubeError) || !isAway(error.failure)) throw error;
      return snooze(error.failure.retryAfterMs ?? AWAY_MS, error.message);
    }
  };
