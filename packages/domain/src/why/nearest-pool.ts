import { normaliseLabels } from '../pools/labels.ts';
import type { Pool } from '../pools/pool.ts';
import { byPreference } from '../pools/pools-document.ts';

/** The pool that lacks the fewest labels of a job. */
export interface NearestPool {
  readonly pool: string;
  /** Empty: it has all of them. */
  readonly missing: readonly string[];
}

/** On a tie, the pool that would come first if it had all labels. Undefined: there is no pool. */
export function nearestPool(
  pools: readonly Pool[],
  jobLabels: readonly string[],
): NearestPool | undefined {
  const wanted = normaliseLabels(jobLabels);
  const [nearest] = pools
    .map((pool) => ({ pool, missing: wanted.filter((label) => !pool.labels.includes(label)) }))
    .toSorted((a, b) => a.missing.length - b.missing.length || byPreference(a.pool, b.pool));
  return nearest && { pool: nearest.pool.name, missing: nearest.missing };
}
