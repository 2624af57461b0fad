import { entityRule, poolFor, type PoolsDocument } from './pools-document.ts';
import { type ScopeRepoId, scopeRepoId } from './scope.ts';
import type { JobStatement } from '../deliveries/workflow-job-event.ts';

/** The pool that serves a job, and where its worker has to register. */
export interface PlacedJob {
  readonly pool: string;
  readonly image: string;
  readonly scopeRepoId: ScopeRepoId;
}

export type IgnoredJob = { readonly ignored: 'ignored_entity' | 'ignored_no_label' | 'ignored_public_repository' | 'refused_account' };

/** Instead of the place of a job whose account's login belongs to another account: the database knows, and no document. */
export const REFUSED_ACCOUNT: IgnoredJob = { ignored: 'refused_account' };

/** Finds the pool of a job, or why it has none (B4). */
export function placeJob(
  document: PoolsDocument,
  job: Pick<JobStatement, 'account' | 'labels' | 'isPublic' | 'repoId'>,
): PlacedJob | IgnoredJob {
  if (entityRule(document, job.account) === undefined) return { ignored: 'ignored_entity' };
  const pool = poolFor(document.pools, job.labels);
  if (pool === undefined) return { ignored: 'ignored_no_label' };
  if (job.isPublic && !pool.publicRepositories) return { ignored: 'ignored_public_repository' };
  return { pool: pool.name, image: pool.image, scopeRepoId: scopeRepoId(job.account.type, pool, job.repoId) };
}

/** Stands for the pool of a job that waits although no pool serves it any more; no pool can be named so. */
export const NO_POOL = '(none)';

/** A job that waits, and the place that it was given before. */
export type WaitingJob = Parameters<typeof placeJob>[1] & PlacedJob;

/**
 * Where a waiting job belongs under the pools of today; undefined: where it is. A job whose pool or account has gone stays, and comes back
 * with it.
 */
export function replaceJob(document: PoolsDocument, job: WaitingJob): PlacedJob | undefined {
  const place = placeJob(document, job);
  if ('ignored' in place) {
    const isGone = place.ignored === 'ignored_entity' || !document.pools.some(({ name }) => name === job.pool);
    return isGone ? undefined : { pool: NO_POOL, image: job.image, scopeRepoId: job.scopeRepoId };
  }
  return place.pool === job.pool && place.scopeRepoId === job.scopeRepoId ? undefined : place;
}
