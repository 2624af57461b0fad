import type { NamedEntity } from './entities.ts';
import { loginThrough, serves } from './gate.ts';
import { poolsFor } from './labels.ts';
import { entityRule, type PoolsDocument } from './pools-document.ts';
import type { Pool } from './pool.ts';

/** Where runners register: 0 is the organisation, any other number a repository's id. */
type ScopeRepoId = number;

/**
 * The scope where a job's worker registers. A user cannot have runners, and a repository's runner
 * serves no other repository, so for both the scope is the repository.
 */
export const scopeRepoId = (
  entityType: 'Organization' | 'User',
  pool: Pick<Pool, 'registration'>,
  repoId: number,
): ScopeRepoId => (entityType === 'User' || pool.registration === 'repository' ? repoId : 0);

export interface PlacedJob {
  readonly pool: string;
  readonly image: string;
  readonly scopeRepoId: ScopeRepoId;
}

/** Why no pool serves a job: such deliveries are judged again if the pools change. */
export const NOT_SERVED = [
  'ignored_entity',
  'ignored_no_label',
  'ignored_pool_closed',
  'ignored_public_repository',
  'refused_entity',
] as const;

/** For a job whose entity's login is pinned to another entity. Only the database knows that. */
export const REFUSED_ENTITY: IgnoredJob = { ignored: 'refused_entity' };

export type IgnoredJob = { readonly ignored: (typeof NOT_SERVED)[number] };

interface JobToPlace {
  readonly entity: NamedEntity & { readonly type: 'Organization' | 'User' };
  /** Normalised. */
  readonly labels: readonly string[];
  /** Null if unknown. Then only pools for public repositories serve it. */
  readonly isPublic: boolean | null;
  readonly repoId: number;
  readonly repoFullName: string;
}

/** The first pool that has a job's labels and serves its repository, or why none does. */
export function placeJob(document: PoolsDocument, job: JobToPlace): PlacedJob | IgnoredJob {
  if (entityRule(document, job.entity) === undefined) return { ignored: 'ignored_entity' };
  const fitting = poolsFor(document.pools, job.labels);
  const pool = fitting.find((one) => serves(one, job));
  if (pool === undefined)
    return { ignored: fitting.length === 0 ? 'ignored_no_label' : 'ignored_pool_closed' };
  if (job.isPublic !== false && !pool.publicRepositories)
    return { ignored: 'ignored_public_repository' };
  return {
    pool: pool.name,
    image: pool.image,
    scopeRepoId: scopeRepoId(job.entity.type, pool, job.repoId),
  };
}

/** The pools whose workers must not run a job: they do not serve its entity or repository. */
export const poolsClosedTo = (
  { pools }: PoolsDocument,
  job: Omit<JobToPlace, 'labels' | 'repoId'>,
): string[] =>
  pools
    .filter((pool) => !serves(pool, job) || (job.isPublic === true && !pool.publicRepositories))
    .map(({ name }) => name);

/** If that login is pinned to another entity, these are closed too. */
export const poolsNamingLogin = (
  { pools }: PoolsDocument,
  { entity }: Pick<JobToPlace, 'entity'>,
): string[] =>
  pools.filter((pool) => loginThrough(pool, entity) !== undefined).map(({ name }) => name);

/** The pool of a waiting job that no pool serves now. No pool can have this name. */
export const NO_POOL = '(none)';

export type WaitingJob = JobToPlace & PlacedJob;

/**
 * The new place of a waiting job under the current pools; undefined: it stays. If its pool or
 * entity was removed, it stays too, and is served again once that returns.
 */
export function replaceJob(document: PoolsDocument, job: WaitingJob): PlacedJob | undefined {
  const place = placeJob(document, job);
  if ('ignored' in place) {
    const isGone =
      place.ignored === 'ignored_entity' || !document.pools.some(({ name }) => name === job.pool);
    return isGone ? undefined : { pool: NO_POOL, image: job.image, scopeRepoId: job.scopeRepoId };
  }
  return place.pool === job.pool && place.scopeRepoId === job.scopeRepoId ? undefined : place;
}
