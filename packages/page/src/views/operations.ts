import type { OperationCount } from '../answers.ts';
import { plain } from '../text/words.ts';

export interface KindCount {
  readonly kind: string;
  readonly good: number;
  readonly bad: number;
  /** As `2 out of attempts`, the commonest first. */
  readonly reasons: readonly string[];
}

/** The sums of each kind, those with failures first, then by name. */
export function sumByKind(counts: readonly OperationCount[]): KindCount[] {
  const byKind = Map.groupBy(counts, ({ kind }) => kind);
  return [...byKind]
    .map(([kind, of]) => {
      const failed = of.filter(({ outcome }) => outcome === 'ERROR');
      const bad = sum(failed);
      const byReason = Map.groupBy(failed, ({ reason }) => reason ?? 'unknown');
      return {
        kind,
        good: sum(of) - bad,
        bad,
        reasons: [...byReason]
          .map(([reason, those]) => ({ reason, many: sum(those) }))
          .toSorted((a, b) => b.many - a.many)
          .map(({ reason, many }) => `${many} ${howFailed(reason)}`),
      };
    })
    .toSorted((a, b) => Number(b.bad > 0) - Number(a.bad > 0) || (a.kind < b.kind ? -1 : 1));
}

/** How an operation failed, behind a number or before what it said last. */
export const howFailed = (reason: string): string => HOW.get(reason) ?? plain(reason);

const HOW = new Map([
  ['poison', 'cannot be done'],
  ['attempts', 'out of attempts'],
  ['crashes', 'broken off too often'],
  ['timeout', 'timed out'],
]);

const sum = (counts: readonly OperationCount[]): number =>
  counts.reduce((all, { ended }) => all + ended, 0);
