/** Counts how often one body was answered with 200. */
export interface Repeats {
  /** It came so often within a minute that PostgreSQL is not asked again. */
  isExcessive(bodyDigest: string): boolean;
  /** The body is stored, now or since long. */
  stored(bodyDigest: string): void;
}

/** GitHub repeats a delivery when it is asked to, which takes minutes between two of one body. */
const MOST_IN_A_MINUTE = 10;

const MINUTE_MS = 60_000;

/** Bodies of one generation; two are remembered at one time, some 2 MB. */
const MOST_OF_A_GENERATION = 5_000;

/**
 * Holds whoever sends one body again and again to a few look-ups a minute. What it knows of is stored, so that 200 is true of every repeat,
 * GitHub's own included. Each replica counts by itself and forgets with its end: what a body leaves in the database has a limit of its own.
 * `now` is in milliseconds.
 */
export function createRepeats(now: () => number = () => performance.now()): Repeats {
  // Forgotten by the generation: to find the oldest of one map, where the oldest is always taken out, costs more than all the rest.
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
