import type { Pool } from './pool.ts';

/** Where runners register: 0 is the organisation itself, anything else the id of one repository. */
export type ScopeRepoId = number;

/**
 * The scope in which a worker for this job has to register. A user has no runners of its own, and a
 * runner registered at a repository serves no other one, so there the scope is the repository (C2).
 */
export function scopeRepoId(entityType: 'Organization' | 'User', pool: Pick<Pool, 'registration'>, repoId: number): ScopeRepoId {
  return entityType === 'User' || pool.registration === 'repository' ? repoId : 0;
}
