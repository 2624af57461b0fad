import type { Hold } from '@paddock/db/breakers/note-failure';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { type Outcome, snooze } from '@paddock/queue/outcome';

const SHORTEST_MS = 1_000;
/** As the queue's first back-off. */
export const LONGEST_UNHELD_MS = 30_000;

/**
 * How long a worker waits while no breaker is open: an eighth of its age, so that a long failure is
 * retried less and less often.
 */
export const unheldWaitMs = ({ ageMs }: WorkerToProvision): number =>
  Math.max(SHORTEST_MS, ageMs / 8);

/**
 * Snoozes the worker's task until GitHub or the cluster may be back; no attempt is spent. An open
 * breaker sets the pause, and its end wakes the task; without one the worker waits `unheldWaitMs`.
 */
export function waitForReturn(
  worker: WorkerToProvision,
  hold: Hold | undefined,
  { message, retryAfterMs = 0 }: { readonly message: string; readonly retryAfterMs?: number },
): Outcome {
  if (hold !== undefined)
    return snooze(Math.max(retryAfterMs, hold.waitMs), message, { heldBy: hold.heldBy });
  return snooze(Math.max(retryAfterMs, Math.min(LONGEST_UNHELD_MS, unheldWaitMs(worker))), message);
}
