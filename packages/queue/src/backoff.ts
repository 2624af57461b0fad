export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

const JITTER = 0.2;

/**
 * How long a task waits after its `attempt`-th failed run, in milliseconds. Each failure doubles
 * the wait, up to the longest. The jitter keeps tasks that failed together from returning together.
 * `random` gives [0, 1).
 */
export function backoffMs(
  attempt: number,
  { firstMs, longestMs }: Backoff,
  random: () => number,
): number {
  const exact = Math.min(firstMs * 2 ** (Math.max(attempt, 1) - 1), longestMs);
  return Math.round(exact * (1 - JITTER + 2 * JITTER * random()));
}
