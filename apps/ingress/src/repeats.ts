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

/** Bodies that are remembered at one time, the last that came: some 2 MB. */
const MOST_REMEMBERED = 10_000;

/**
 * Holds whoever sends one body again and again to a few look-ups a minute. What it knows of is stored, so that 200 is true of every repeat,
 * GitHub's own included. Each replica counts by itself and forgets with its end: what a body leaves in the database has a limit of its own.
 * `now` is in milliseconds.
 */
export function createRepeats(now: () => number = () => performance.now()): Repeats {
  const known = new Map<string, { readonly since: number; times: number }>();
  const recent = (bodyDigest: string) => {
    const seen = known.get(bodyDigest);
    return seen === undefined || now() - seen.since >= MINUTE_MS ? undefined : seen;
  };
  return {
    isExcessive: (bodyDigest) => (recent(bodyDigest)?.times ?? 0) >= MOST_IN_A_MINUTE,
    stored: (bodyDigest) => {
      const seen = recent(bodyDigest) ?? { since: now(), times: 0 };
      seen.times++;
      // Put in anew, so that the first one is the one that came longest ago.
      known.delete(bodyDigest);
      known.set(bodyDigest, seen);
      const [oldest] = known.keys();
      if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest);
    },
  };
}
