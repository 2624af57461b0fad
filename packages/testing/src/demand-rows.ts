import type { Database, Db } from '@paddock/db/schema/tables';
import type { Pool } from '@paddock/domain/pools/pool';
import { poolsDocument, type PoolsDocument } from '@paddock/domain/pools/pools-document';
import { scopeRepoId } from '@paddock/domain/pools/place-job';
import type { Insertable, InsertObject, Selectable } from 'kysely';

/**
 * A pools document with all defaults filled in. Unless given: a pool `linux`, and every entity
 * allowed.
 */
export function examplePools(
  given: { pools?: readonly Partial<Pool>[]; entities?: object } = {},
): PoolsDocument {
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

/** Puts a new version of the pools document in force. */
export async function putPools(db: Db, document: PoolsDocument): Promise<void> {
  const content = JSON.stringify(document);
  await db.insertInto('pools_documents').values({ digest: content, content }).execute();
}

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
    entity_id: 90_000_001,
    entity_name: 'acme',
    entity_type: entityType,
    repo_id: repoId,
    repo_full_name: `${given.entity_name ?? 'acme'}/api`,
    app_id: 1001,
    installation_id: 51_000_001,
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
export async function noteInstallationOf(
  db: Db,
  {
    entity_id,
    entity_type,
    entity_name: login,
    app_id,
    installation_id,
  }: Selectable<Database['jobs']>,
): Promise<void> {
  const type = entity_type === 'User' ? 'User' : 'Organization';
  const mention = { entity_id, entity_type: type, login, app_id, installation_id } as const;
  await db
    .insertInto('installations')
    .values({ ...mention, stated_at: new Date(0) })
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
  const standard = {
    entity_id: 90_000_001,
    entity_type: 'Organization',
    login: 'acme',
    app_id: 1001,
    installation_id: 51_000_001,
    stated_at: new Date(),
  } as const;
  await db
    .insertInto('installations')
    .values({ ...standard, ...given })
    .execute();
}
