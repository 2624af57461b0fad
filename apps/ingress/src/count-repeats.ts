/** Counts how often one body was answered with 200. */
export interface Repeats {
  /** The body came so often within a minute that PostgreSQL need not look it up again. */
  isExcessive(bodyDigest: string): boolean;
  /** Notes that the body is stored. */
  stored(bodyDigest: string): void;
}

/** GitHub repeats a body only on request, minutes apart. */
const MOST_IN_A_MINUTE = 10;

const MINUTE_MS = 60_000;

/** Most bodies of one generation. The two generations together take some 2 MB. */
const MOST_OF_A_GENERATION = 5_000;

/**
 * Limits how often a sender of one body causes a query. It counts only stored bodies, so 200 is
 * true for each repeat. Each replica counts alone; the database has its own limit of rows for a
 * body. `now` is in milliseconds.
 */
export function createRepeats(now: () => number = () => performance.now()): Repeats {
  // A whole generation is dropped at once: to delete the oldest entry of one map costs more.
  let young = new Map<string, { readonly since: number; times: number }>();
  let old = young;
  const recent = (bodyDigest: string) => {
    const seen = young.get(bodyDigest) ?? old.get(bodyDigest);
    return seen === undefined || now() - seen.since >= MINUTE_MS ? undefined : seen;
  };
  return {
    isExcessive: (bodyDigest) => (recent(bodyDigest)?.times ?? 0) >= MOST_IN_A_MINUTE,
    stored: (bodyDigest) => {
      const seen = recent(bodyDigest) ?? { since: now(), times: 0 };
      seen.times++;
      young.set(bodyDigest, seen);
      if (young.size < MOST_OF_A_GENERATION) return;
      old = young;
      young = new Map();
    },
  };
}
