import { entityInPool } from '@paddock/domain/matching/matching-rules';
import type { BreakerType } from '@paddock/domain/matching/stored-rules';
import { sql } from 'kysely';

/**
 * The subject of a breaker: a pool's template, an App, an entity's installation, a repository,
 * GitHub or the cluster. All else continues.
 */
export interface BreakerSubject {
  readonly type: BreakerType;
  /**
   * The pool's name, POOL@ENTITY for one entity in it, POOL@ENTITY#KEY for one demand key; the
   * App's, the entity's or the repository's id; the cluster's name; empty for GitHub.
   */
  readonly id: string;
}

export const poolBreaker = (name: string): BreakerSubject => ({ type: 'pool', id: name });
/** Of one entity in a pool. */
export const entityInPoolBreaker = (place: { pool: string; entityId: number }): BreakerSubject => ({
  type: 'pool',
  id: entityInPool(place),
});
/** The id of a key's breaker, of a row with `demand_key`. Its type is `pool`. */
export const KEY_BREAKER_ID = sql.raw<string>(`k8s_pool || '@' || entity_id || '#' || demand_key`);
export const appBreaker = (appId: number): BreakerSubject => ({ type: 'app', id: String(appId) });
export const installationBreaker = (entityId: number): BreakerSubject => ({
  type: 'installation',
  id: String(entityId),
});
export const repositoryBreaker = (repoId: number): BreakerSubject => ({
  type: 'repository',
  id: String(repoId),
});
export const githubBreaker: BreakerSubject = { type: 'github', id: '' };
export const clusterBreaker = (name: string): BreakerSubject => ({ type: 'cluster', id: name });
/** Of the one cluster there is, as the column `workers.cluster` names it. */
export const ownCluster = { type: 'cluster', id: 'default' } as const;

/** The value of `held_by` in a task that waits for a breaker of this subject. */
export const heldBy = ({ type, id }: BreakerSubject): string => `${type}:${id}`;

interface RegistrationPlace {
  readonly appId: number;
  readonly entityId: number;
  readonly scopeRepoId: number;
}

/**
 * The subjects that can make a registration at GitHub fail. A success proves that all of them work.
 */
export const registrationBreakers = ({
  appId,
  entityId,
  scopeRepoId,
}: RegistrationPlace): BreakerSubject[] => [
  appBreaker(appId),
  installationBreaker(entityId),
  ...(scopeRepoId === 0 ? [] : [repositoryBreaker(scopeRepoId)]),
  githubBreaker,
];
