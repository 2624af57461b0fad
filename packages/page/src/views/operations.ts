import type { Item } from '../answers.ts';
import { howFailed } from '../parts/outcome.ts';

export interface KindCount {
  readonly kind: string;
  readonly good: number;
  readonly bad: number;
  readonly reasons: readonly string[];
}

export function sumByKind(counts: readonly Item<'countOperations'>[]): KindCount[] {
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

const sum = (counts: readonly Item<'countOperations'>[]): number =>
  counts.reduce((all, { ended }) => all + ended, 0);

/** Types of subjects that have a page of their own. */
const THINGS = ['worker', 'repository', 'installation', 'pool', 'delivery'] as const;

const NAMES = new Map([
  ['schedule', 'sweep'],
  ['app', 'App'],
  ['key', 'queue'],
  ['dry-run', 'trial of'],
]);

/** What an operation is about: in words, as the filter names it, and what has a page of it. */
export function subjectOf({ type, id, name }: Item<'listOperations'>['subject']) {
  const kind = THINGS.find((one) => one === type);
  const filter = `${type}:${id}`;
  return { said: `${NAMES.get(type) ?? type} ${name ?? id}`, filter, thing: kind && { kind, id } };
}

export function readFilter(filter: string) {
  const [type = '', ...id] = filter.split(':');
  return subjectOf({ type, id: id.join(':'), name: null });
}
