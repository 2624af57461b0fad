import { entityRule, poolFor, type PoolsDocument } from './pools-document.ts';
import { type ScopeRepoId, scopeRepoId } from './scope.ts';
import type { JobStatement } from './workflow-job-event.ts';

/** The pool that serves a job, and where its worker has to register. */
export interface PlacedJob {
  readonly pool: string;
  readonly image: string;
  readonly scopeRepoId: ScopeRepoId;
}

export type IgnoredJob = { readonly ignored: 'ignored_entity' | 'ignored_no_label' | 'ignored_public_repository' };

/** Finds the pool of a job, or why it has none (B4). */
export function placeJob(
  document: PoolsDocument,
  job: Pick<JobStatement, 'account' | 'labels' | 'isPublic' | 'repoId'>,
): PlacedJob | IgnoredJob {
  if (entityRule(document, job.account.login) === undefined) return { ignored: 'ignored_entity' };
  const pool = poolFor(document.pools, job.labels);
  if (pool === undefined) return { ignored: 'ignored_no_label' };
  if (job.isPublic && !pool.publicRepositories) return { ignored: 'ignored_public_repository' };
  return { pool: pool.name, image: pool.image, scopeRepoId: scopeRepoId(job.account.type, pool, job.repoId) };
}
