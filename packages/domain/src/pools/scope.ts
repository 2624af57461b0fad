import type { Pool } from './pool.ts';

/** Where runners register: 0 is the organisation, any other number a repository's id. */
export type ScopeRepoId = number;

/**
 * The scope where a job's worker registers. A user cannot have runners, and a repository's runner
 * serves no other repository, so for both the scope is the repository.
 */
export function scopeRepoId(
  entityType: 'Organization' | 'User',
  pool: Pick<Pool, 'registration'>,
  repoId: number,
): ScopeRepoId {
  return entityType === 'User' || pool.registration === 'repository' ? repoId : 0;
}
