/** Pods that a list lacked although they are known, with when this was first so, in milliseconds of a clock that only goes forward. */
export type DoubtedPods = ReadonlyMap<string, number>;

export const NO_DOUBT: DoubtedPods = new Map();

/** Fewer cost little if they are wrongly taken for gone: GitHub is asked about each before its row ends. */
const FEWEST = 10;

/**
 * Which of the pods that were known before a list are gone, as it lacks them. A list that lacks most of them, many, at once is more likely
 * wrong than they are gone: a server whose cache is not filled, the wrong cluster, a restored etcd. Then each is doubted first, and gone
 * once a list `doubtMs` later lacks it too.
 */
export function judgeAbsence(
  { known, present, doubted, nowMs }: { known: readonly string[]; present: ReadonlySet<string>; doubted: DoubtedPods; nowMs: number },
  doubtMs: number,
): { gone: readonly string[]; doubted: DoubtedPods } {
  const missing = known.filter((name) => !present.has(name));
  if (missing.length < FEWEST || missing.length * 2 <= known.length) return { gone: missing, doubted: NO_DOUBT };
  const sinceOf = (name: string) => doubted.get(name) ?? nowMs;
  const gone = missing.filter((name) => nowMs - sinceOf(name) >= doubtMs);
  const left = missing.filter((name) => nowMs - sinceOf(name) < doubtMs);
  return { gone, doubted: new Map(left.map((name) => [name, sinceOf(name)])) };
}
