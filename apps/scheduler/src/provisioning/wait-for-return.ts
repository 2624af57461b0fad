import type { Hold } from '@paddock/db/breakers/note-failure';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { type Outcome, snooze } from '@paddock/queue/outcome';

const SHORTEST_MS = 1_000;
/** As the queue's first back-off. */
export const LONGEST_ALONE_MS = 30_000;

/**
 * How long a worker waits for what failed while no breaker is open, so that it may be the only one that fails: an eighth of its age. So it
 * comes an eighth later than what passes, and what does not is asked ever more seldom.
 */
export const aloneMs = ({ ageMs }: WorkerToProvision): number => Math.max(SHORTEST_MS, ageMs / 8);

/** The worker's task waits for what is away to be back, and no attempt is spent: in the hold of a breaker, which ends its wait, or alone. */
export function waitForReturn(
  worker: WorkerToProvision,
  hold: Hold | undefined,
  { message, retryAfterMs = 0 }: { readonly message: string; readonly retryAfterMs?: number },
): Outcome {
  if (hold !== undefined) return snooze(Math.max(retryAfterMs, hold.waitMs), message, { heldBy: hold.heldBy });
  return snooze(Math.max(retryAfterMs, Math.min(LONGEST_ALONE_MS, aloneMs(worker))), message);
}
