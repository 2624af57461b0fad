/**
 * Known pods that a list lacked, with the time of the first such list, in milliseconds of a
 * monotonic clock.
 */
export type DoubtedPods = ReadonlyMap<string, number>;

export const NO_DOUBT: DoubtedPods = new Map();

/**
 * Below this, a wrong absence costs little: the reconciler asks GitHub about each before its row
 * ends.
 */
const FEWEST = 10;

/**
 * Decides which known pods are gone, because a list lacks them. If a list lacks many and most of
 * them, it is probably wrong: an unfilled cache, the wrong cluster, a restored etcd. Then each is
 * doubted first, and gone once a list `doubtMs` later lacks it too.
 */
export function judgeAbsence(
  {
    known,
    present,
    doubted,
    nowMs,
  }: {
    known: readonly string[];
    present: ReadonlySet<string>;
    doubted: DoubtedPods;
    nowMs: number;
  },
  doubtMs: number,
): { gone: readonly string[]; doubted: DoubtedPods } {
  const missing = known.filter((name) => !present.has(name));
  if (missing.length < FEWEST || missing.length * 2 <= known.length)
    return { gone: missing, doubted: NO_DOUBT };
  const sinceOf = (name: string) => doubted.get(name) ?? nowMs;
  const gone = missing.filter((name) => nowMs - sinceOf(name) >= doubtMs);
  const left = missing.filter((name) => nowMs - sinceOf(name) < doubtMs);
  return { gone, doubted: new Map(left.map((name) => [name, sinceOf(name)])) };
}
