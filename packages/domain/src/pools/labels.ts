import { normaliseLabels } from '../text/storable.ts';
import type { Pool } from './pool.ts';

/**
 * The pools that have all labels of a job, without regard to case. Ordered by fewest labels,
 * highest priority, name. A job without labels fits those that say so.
 */
export function poolsFor(pools: readonly Pool[], jobLabels: readonly string[]): Pool[] {
  const wanted = normaliseLabels(jobLabels);
  return pools
    .filter(({ labels, unlabelled = false }) =>
      wanted.length === 0 ? unlabelled : wanted.every((label) => labels.includes(label)),
    )
    .toSorted(byPreference);
}

/** The largest label sets that fit several pools, with their names in order of preference. */
export function sharedLabels(
  pools: readonly Pool[],
): { labels: readonly string[]; pools: readonly string[] }[] {
  const sets = pools.flatMap((one, index) =>
    pools
      .slice(index + 1)
      .map((other) => one.labels.filter((label) => other.labels.includes(label))),
  );
  const byKey = new Map(
    sets.filter((labels) => labels.length > 0).map((labels) => [labels.join('\n'), labels]),
  );
  return [...byKey.values()].map((labels) => ({
    labels,
    pools: poolsFor(pools, labels).map(({ name }) => name),
  }));
}

/** The pool that comes first among those that have all labels of a job. */
export const byPreference = (a: Pool, b: Pool): number =>
  a.labels.length - b.labels.length || b.priority - a.priority || (a.name < b.name ? -1 : 1);
