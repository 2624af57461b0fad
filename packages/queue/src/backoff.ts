export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

const JITTER = 0.2;

/**
 * How long a task waits after its `attempt`-th failed run, in milliseconds: the first wait doubled with each failure, up to the longest
 * one, then up to 20 % more or less, so that tasks which failed together do not come back together (D4). `random` gives [0, 1).
 */
export function backoffMs(attempt: number, { firstMs, longestMs }: Backoff, random: () => number): number {
  const exact = Math.min(firstMs * 2 ** (Math.max(attempt, 1) - 1), longestMs);
  return Math.round(exact * (1 - JITTER + 2 * JITTER * random()));
}
