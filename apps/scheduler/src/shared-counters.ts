/** Counters that several event files move. */
export interface SharedCounters {
  ended(labels: { pool: string; status: 'completed' | 'failed'; reason: string }): void;
  githubFailed(kind: string): void;
  clusterFailed(kind: string): void;
}

/** In seconds. */
export const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** Most names in one log line. */
export const MOST_NAMES = 20;
