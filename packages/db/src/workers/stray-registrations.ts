import { type Kysely, sql } from 'kysely';
import { installationToday, loginToday } from '../entities/installation-today.ts';
import { mayCall } from '../entities/told.ts';
import type { Database, EntityType } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';
import { LIVE } from '../states/worker-states.ts';

/** A scope where our workers registered lately, by today's names. */
export interface KnownScope {
  entityId: number;
  entityType: EntityType;
  /** 0: the organisation. */
  scopeRepoId: number;
  login: string;
  appId: number;
  installationId: number;
}

export interface KnownScopesQuery {
  /** Only scopes for which a worker was made within this time, in milliseconds. */
  madeWithinMs: number;
  /** The Apps that are configured here. */
  appIds: readonly number[];
}

/**
 * The scopes that may have our registrations, without entities on which no App may be used, and
 * without what GitHub refused us lately.
 */
export async function findKnownScopes(
  db: Kysely<Database>,
  { madeWithinMs, appIds }: KnownScopesQuery,
): Promise<KnownScope[]> {
  const { rows } = await sql<KnownScope>`
    select w.entity_id as "entityId", w.entity_type as "entityType", w.scope_repo_id as "scopeRepoId",
      ${loginToday('w')} as login, i.app_id as "appId", i.installation_id as "installationId"
    from (
      select distinct on (entity_id, scope_repo_id) entity_id, entity_type, scope_repo_id, entity_name, app_id, installation_id
      from workers where created_at > now() - ${milliseconds(madeWithinMs)}
      order by entity_id, scope_repo_id, created_at desc) w
    ${installationToday('w', appIds)}
    where i.app_id is not null and ${mayCall({ appId: 'i.app_id', entityId: 'w.entity_id', repoId: 'w.scope_repo_id' })}
    order by w.entity_id, w.scope_repo_id`.execute(db);
  return rows;
}

/**
 * The names without a worker that a registration may belong to: a live one, or a failed one whose
 * registration is not known to be gone; that one is removed by its name.
 */
export async function findNamesWithoutWorker(
  db: Kysely<Database>,
  names: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) as given(name)
    where not exists (
      select from workers
      where pod_name = name and (${LIVE} or (status = 'failed' and registration_gone_at is null)))`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

export interface SeenRegistration {
  runnerId: number;
  name: string;
}

/**
 * Stores which registrations without a worker a complete list of the scope showed offline, and
 * forgets those not shown now. Returns those shown in at least two lists, the first of them before
 * the grace, in milliseconds.
 */
export async function noteStrayRegistrations(
  db: Kysely<Database>,
  { entityId, scopeRepoId }: Pick<KnownScope, 'entityId' | 'scopeRepoId'>,
  seen: readonly SeenRegistration[],
  graceMs: number,
): Promise<SeenRegistration[]> {
  const ids = seen.map(({ runnerId }) => runnerId);
  await sql`
    delete from stray_registrations
    where entity_id = ${entityId} and scope_repo_id = ${scopeRepoId} and runner_id <> all(${ids}::bigint[])`.execute(
    db,
  );
  const { rows } = await sql<SeenRegistration & { isDue: boolean }>`
    insert into stray_registrations as known (entity_id, scope_repo_id, runner_id, name)
    select ${entityId}, ${scopeRepoId}, "runnerId", name
    from jsonb_to_recordset(${JSON.stringify(seen)}::jsonb) as s("runnerId" bigint, name text)
    order by "runnerId"
    on conflict (entity_id, scope_repo_id, runner_id) do update set sightings = known.sightings + 1
    returning runner_id as "runnerId", name, first_seen_at < now() - ${milliseconds(graceMs)} as "isDue"`.execute(
    db,
  );
  return rows.filter(({ isDue }) => isDue).map(({ runnerId, name }) => ({ runnerId, name }));
}

/** The registration is gone. */
export async function forgetStrayRegistration(
  db: Kysely<Database>,
  { entityId, scopeRepoId }: Pick<KnownScope, 'entityId' | 'scopeRepoId'>,
  runnerId: number,
): Promise<void> {
  await db
    .deleteFrom('stray_registrations')
    .where('entity_id', '=', entityId)
    .where('scope_repo_id', '=', scopeRepoId)
    .where('runner_id', '=', runnerId)
    .execute();
}
