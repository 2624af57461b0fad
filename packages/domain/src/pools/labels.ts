import type { Pool } from './pool.ts';

/** As rows hold them: lower case, unique, sorted by code unit. */
export function normaliseLabels(labels: readonly string[]): string[] {
  return [...new Set(labels.map((label) => label.toLowerCase()))].toSorted(byCodeUnit);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In UTF-8. An index entry has at most 2 704 bytes, including what JSONB adds to each label. */
export const MOST_LABEL_BYTES = 2_000;

/** Those that fit into a row, from the first on. All do, if the job fits a pool. */
export function storableLabels(labels: readonly string[]): readonly string[] {
  let bytes = 0;
  return labels.filter((label) => (bytes += bytesOf(label)) <= MOST_LABEL_BYTES);
}

/** Includes what JSONB adds. */
const bytesOf = (label: string): number => new TextEncoder().encode(label).length + 4;

/** The first of these pools. Jobs that it does not serve go to the next. */
export const poolFor = (pools: readonly Pool[], jobLabels: readonly string[]): Pool | undefined =>
  poolsFor(pools, jobLabels)[0];

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
