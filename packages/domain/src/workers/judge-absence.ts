/** Known pods that a list lacked, and when first, in milliseconds of a monotonic clock. */
export type UnconfirmedPods = ReadonlyMap<string, number>;

export const NONE_UNCONFIRMED: UnconfirmedPods = new Map();

/** Below this, a wrong absence costs little: GitHub is asked about each before its row ends. */
const FEWEST = 10;

/**
 * Decides which known pods are gone, because a list lacks them. If a list lacks many and most of
 * them, it is probably wrong: an unfilled cache, the wrong cluster, a restored etcd. Then each is
 * unconfirmed first, and gone once a list `confirmAfterMs` later lacks it too.
 */
export function judgeAbsence(
  {
    known,
    present,
    unconfirmed,
    nowMs,
  }: {
    known: readonly string[];
    present: ReadonlySet<string>;
    unconfirmed: UnconfirmedPods;
    nowMs: number;
  },
  confirmAfterMs: number,
): { gone: readonly string[]; unconfirmed: UnconfirmedPods } {
  const missing = known.filter((name) => !present.has(name));
  if (missing.length < FEWEST || missing.length * 2 <= known.length)
    return { gone: missing, unconfirmed: NONE_UNCONFIRMED };
  const sinceOf = (name: string) => unconfirmed.get(name) ?? nowMs;
  const gone = missing.filter((name) => nowMs - sinceOf(name) >= confirmAfterMs);
  const left = missing.filter((name) => nowMs - sinceOf(name) < confirmAfterMs);
  return { gone, unconfirmed: new Map(left.map((name) => [name, sinceOf(name)])) };
}
