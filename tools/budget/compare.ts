/** A bound of `budget.json`: lines or files, or of a concept how many there are. */
export interface Bound {
  readonly most: number;
  /** What each folder had when they were last counted. */
  readonly folders?: Readonly<Record<string, number>>;
}
export type Budget = Readonly<Record<string, Bound>>;

/** A count of today. Concepts have no folders. */
export interface Count {
  readonly total: number;
  readonly folders?: Readonly<Record<string, number>>;
}
export type Counts = Readonly<Record<string, Count>>;

/** A sentence for each count above its bound, with the folders that grew. */
export function overruns(budget: Budget, counts: Counts): string[] {
  return Object.entries(counts).flatMap(([name, { total, folders = {} }]) => {
    const bound = budget[name];
    if (bound === undefined) return [`budget.json has no bound for ${name}.`];
    if (total <= bound.most) return [];
    const grown = Object.entries(folders)
      .map(([folder, now]) => ({ folder, now, before: bound.folders?.[folder] ?? 0 }))
      .filter(({ now, before }) => now > before)
      .toSorted((a, b) => b.now - b.before - (a.now - a.before))
      .map(({ folder, now, before }) => `${folder} ${before} → ${now}`);
    const list = grown.length > 0 ? ` Grown: ${grown.join(', ')}.` : '';
    return [`${name}: ${total}, but at most ${bound.most} are allowed.${list}`];
  });
}

/** The budget with today's counts of folders. */
export const recounted = (budget: Budget, counts: Counts): Budget =>
  Object.fromEntries(
    Object.entries(budget).map(([name, { most }]) => {
      const folders = counts[name]?.folders;
      return [name, { most, ...(folders && { folders }) }];
    }),
  );
