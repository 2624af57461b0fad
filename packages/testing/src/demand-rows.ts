import type { Database, Db } from '@paddock/db/schema/tables';
import type { Pool } from '@paddock/domain/pools/pool';
import { poolsDocument, type PoolsDocument } from '@paddock/domain/pools/pools-document';
import { scopeRepoId } from '@paddock/domain/pools/place-job';
import { workerName } from '@paddock/domain/workers/worker-name';
import { type Insertable, type InsertObject, type Selectable, sql } from 'kysely';

/** What a test says of a pools document: of a pool, the keys that are not as in `linux`. */
export interface GivenPools {
  readonly pools?: readonly Partial<Pool>[];
  readonly entities?: object;
}

/**
 * A pools document with all defaults filled in. Unless given: a pool `linux`, and every entity
 * allowed.
 */
export function examplePools(given: GivenPools = {}): PoolsDocument {
  const { pools = [{}], entities = { '*': { maxWorkers: null } } } = given;
  const standard = {
    name: 'linux',
    labels: ['self-hosted', 'linux'],
    image: 'ghcr.io/acme/runner:1',
    namespace: 'runners',
  };
  return poolsDocument.parse({
    pools: pools.map((pool) => Object.assign({}, standard, pool)),
    entities,
  });
}

/** Puts a new version of the pools document in force, filled in like an example. */
export async function putPools(db: Db, given?: GivenPools): Promise<void> {
  const content = JSON.stringify(examplePools(given));
  await db.insertInto('pools_documents').values({ digest: content, content }).execute();
}

/** The organisation of rows that say no other, and the App's installation on it. */
export const ACME = {
  entity_id: 90_000_001,
  entity_name: 'acme',
  entity_type: 'Organization',
  app_id: 1001,
  installation_id: 51_000_001,
} as const;

/** Far from the ids that the simulated GitHub gives: a test may have jobs of both. */
let lastJobId = 64_500_000_000;

/**
 * A queued job of the organisation acme for the pool `linux`, as ingress would have stored it;
 * `given` overrides columns.
 */
export async function putJob(
  db: Db,
  given: Partial<Insertable<Database['jobs']>> = {},
): Promise<Selectable<Database['jobs']>> {
  const entityType = given.entity_type ?? 'Organization';
  const repoId = given.repo_id ?? 780_000_001;
  lastJobId += 1;
  const standard = {
    job_id: lastJobId,
    wants_worker: true,
    ...ACME,
    entity_type: entityType,
    repo_id: repoId,
    repo_full_name: `${given.entity_name ?? 'acme'}/api`,
    job_labels: '["linux"]',
    k8s_pool: 'linux',
    k8s_image: 'ghcr.io/acme/runner:1',
    scope_repo_id: scopeRepoId(entityType, { registration: 'organization' }, repoId),
    pools_version: 1,
    run_id: 9_200_000_001,
    run_attempt: 1,
    job_name: 'build',
  };
  return db
    .insertInto('jobs')
    .values({ ...standard, ...given })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What ingress learns of the installation in passing, when it stores a job. */
export async function noteInstallationOf(db: Db, job: Selectable<Database['jobs']>): Promise<void> {
  await db
    .insertInto('installations')
    .values({
      entity_id: job.entity_id,
      entity_type: job.entity_type === 'User' ? 'User' : 'Organization',
      login: job.entity_name,
      app_id: job.app_id,
      installation_id: job.installation_id,
      stated_at: new Date(0),
    })
    .onConflict((known) => known.doNothing())
    .execute();
}

/**
 * An installation of the App of `putJob` on the organisation of `putJob`, as GitHub stated it just
 * now; `given` overrides columns.
 */
export async function putInstallation(
  db: Db,
  given: Partial<InsertObject<Database, 'installations'>> = {},
): Promise<void> {
  const { entity_name: login, ...ids } = ACME;
  const standard = { ...ids, login, stated_at: new Date() };
  await db
    .insertInto('installations')
    .values({ ...standard, ...given })
    .execute();
}

let lastNumber = 0;

/**
 * A pending worker of the organisation acme in the pool `linux`, with our instance's name; `given`
 * overrides columns.
 */
export async function putWorker(
  db: Db,
  given: Partial<InsertObject<Database, 'workers'>> = {},
): Promise<Selectable<Database['workers']>> {
  const { instance_id: instance } = await db
    .selectFrom('instance')
    .select('instance_id')
    .executeTakeFirstOrThrow();
  lastNumber += 1;
  const standard = {
    pod_name: workerName(instance, 'linux', String(lastNumber).padStart(12, '0')),
    ...ACME,
    scope_repo_id: 0,
    job_labels: '["linux"]',
    k8s_pool: 'linux',
    k8s_image: 'ghcr.io/acme/runner:1',
    pools_version: 1,
    namespace: 'default',
  };
  return db
    .insertInto('workers')
    .values({ ...standard, ...given })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** An instant `minutes` ago by the database's clock, for old rows. */
export const minutesAgo = (minutes: number) => sql<Date>`now() - ${minutes} * interval '1 minute'`;
