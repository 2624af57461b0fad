import type { NamedEntity } from './entities.ts';
import { loginThrough, serves } from './gate.ts';
import { entityRule, poolsFor, type PoolsDocument } from './pools-document.ts';
import { type ScopeRepoId, scopeRepoId } from './scope.ts';

/** The pool that serves a job, and where its worker has to register. */
export interface PlacedJob {
  readonly pool: string;
  readonly image: string;
  readonly scopeRepoId: ScopeRepoId;
}

/** Why no pool serves a job: the outcomes of deliveries that are looked at again when the pools change. */
export const NOT_SERVED = [
  'ignored_entity',
  'ignored_no_label',
  'ignored_pool_closed',
  'ignored_public_repository',
  'refused_entity',
] as const;

/** Instead of the place of a job whose entity's login belongs to another entity: the database knows, and no document. */
export const REFUSED_ACCOUNT: IgnoredJob = { ignored: 'refused_entity' };

export type IgnoredJob = { readonly ignored: (typeof NOT_SERVED)[number] };

interface JobToPlace {
  readonly entity: NamedEntity & { readonly type: 'Organization' | 'User' };
  /** Normalised. */
  readonly labels: readonly string[];
  /** Null: not known; then it is served where public repositories are. */
  readonly isPublic: boolean | null;
  readonly repoId: number;
  readonly repoFullName: string;
}

/** Finds the pool of a job, the first with its labels that serves its entity and repository, or why it has none (B4). */
export function placeJob(document: PoolsDocument, job: JobToPlace): PlacedJob | IgnoredJob {
  if (entityRule(document, job.entity) === undefined) return { ignored: 'ignored_entity' };
  const fitting = poolsFor(document.pools, job.labels);
  const pool = fitting.find((one) => serves(one, job));
  if (pool === undefined) return { ignored: fitting.length === 0 ? 'ignored_no_label' : 'ignored_pool_closed' };
  if (job.isPublic !== false && !pool.publicRepositories) return { ignored: 'ignored_public_repository' };
  return { pool: pool.name, image: pool.image, scopeRepoId: scopeRepoId(job.entity.type, pool, job.repoId) };
}

/** The pools whose workers a job must not get: they do not serve its entity, its repository, or public ones. */
export const poolsClosedTo = ({ pools }: PoolsDocument, job: Omit<JobToPlace, 'labels' | 'repoId'>): string[] =>
  pools.filter((pool) => !serves(pool, job) || (job.isPublic === true && !pool.publicRepositories)).map(({ name }) => name);

/** The pools that name the login of a job's entity: closed to the job as well if that login is pinned to another entity. */
export const poolsNaming = ({ pools }: PoolsDocument, { entity }: Pick<JobToPlace, 'entity'>): string[] =>
  pools.filter((pool) => loginThrough(pool, entity) !== undefined).map(({ name }) => name);

/** Stands for the pool of a job that waits although no pool serves it any more; no pool can be named so. */
export const NO_POOL = '(none)';

/** A job that waits, and the place that it was given before. */
export type WaitingJob = JobToPlace & PlacedJob;

/**
 * Where a waiting job belongs under the pools of today; undefined: where it is. A job whose pool or entity has gone stays, and comes back
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
