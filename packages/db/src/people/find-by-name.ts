import { type Kysely, sql } from 'kysely';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';
import type { Database } from '../schema/tables.ts';
import { LIVE } from '../states/worker-states.ts';

/** A row for each login that an entity had before. */
export const FORMER_LOGINS = sql`(
  select entity_id, key as former, value::timestamptz as left_at from installations cross join jsonb_each_text(former_logins)) former_logins`;

/**
 * The entity with this login: the one that has the App, before one that had it, before the one that
 * had this login last.
 */
export async function findEntityByLogin(
  db: Kysely<Database>,
  login: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ entityId: number }>`
    select "entityId" from (
      (select 0 as place, entity_id as "entityId" from installations where lower(login) = lower(${login})
        order by deleted_at desc nulls first, updated_at desc limit 1)
      union all
      (select 1, entity_id from ${FORMER_LOGINS} where lower(former) = lower(${login}) order by left_at desc limit 1)
    ) named order by place limit 1`.execute(db);
  return rows[0]?.entityId;
}

/** The repository with this full name, as discovery or the newest unended job names it. */
export async function findRepositoryByName(
  db: Kysely<Database>,
  fullName: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ repoId: number }>`
    select "repoId" from (
      select repo_id as "repoId", coalesce(named_at, active_at) as at from repositories where lower(full_name) = lower(${fullName})
      union all
      select repo_id, created_at from jobs where status in ('pending', 'running') and lower(repo_full_name) = lower(${fullName})
    ) named order by at desc limit 1`.execute(db);
  return rows[0]?.repoId;
}

/** When a resync of the repository last ended well. Null: never, as far as the rows know. */
export async function findResyncedAt(db: Kysely<Database>, fullName: string): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select max(resynced_at) as at from repositories where lower(full_name) = lower(${fullName})`.execute(
    db,
  );
  return rows[0]?.at ?? null;
}

/** Whether the App is, or was, installed on this entity. */
export async function isKnownEntity(db: Kysely<Database>, entityId: number): Promise<boolean> {
  const { rows } = await sql`
    select from installations where entity_id = ${entityId} limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether a pool of this name is in force, or workers of it are alive. */
export async function isKnownPool(db: Kysely<Database>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select where exists (select from ${POOLS_IN_FORCE} where p ->> 'name' = ${name})
      or exists (select from workers where k8s_pool = ${name} and ${LIVE})`.execute(db);
  return rows.length > 0;
}

/**
 * Whether anything names this pool: a document that is or was in force, a job or a worker. It reads
 * more than a list does, so ask only where one has nothing.
 */
export async function isNamedPool(
  db: Kysely<Database>,
  name: string,
): Promise<{ isNamed: boolean; inForce: readonly string[] }> {
  const { rows } = await sql<{ isNamed: boolean; inForce: string[] }>`
    with in_force as materialized (select p ->> 'name' as pool from ${POOLS_IN_FORCE})
    select array(select pool from in_force order by 1) as "inForce",
      exists (select from in_force where pool = ${name})
      or exists (select from jobs where k8s_pool = ${name} and status in ('completed', 'failed'))
      or exists (select from workers where k8s_pool = ${name} and completed_at is not null)
      or exists (select from workers where k8s_pool = ${name} and ${LIVE})
      or exists (select from jobs where k8s_pool = ${name} and status in ('pending', 'running'))
      or exists (select from pools_documents cross join jsonb_array_elements(content -> 'pools') p where p ->> 'name' = ${name}) as "isNamed"`.execute(
    db,
  );
  return rows[0] ?? { isNamed: false, inForce: [] };
}

/** Whether any App may be used on the entity with this login now. Undefined: none ever was. */
export async function findOwner(
  db: Kysely<Database>,
  login: string,
): Promise<{ isUsable: boolean } | undefined> {
  const { rows } = await sql<{ isUsable: boolean | null }>`
    select bool_or(suspended_at is null and deleted_at is null) as "isUsable" from installations
    where lower(login) = lower(${login})`.execute(db);
  const isUsable = rows[0]?.isUsable ?? null;
  return isUsable === null ? undefined : { isUsable };
}

/** The Apps whose delivery log the reconciler reads, or has read: each has a schedule. */
export async function findScheduledApps(db: Kysely<Database>): Promise<number[]> {
  const { rows } = await sql<{ appId: number }>`
    select split_part(name, ':', 2)::bigint as "appId" from schedules where name ~ '^redeliver:[0-9]+$' order by 1`.execute(
    db,
  );
  return rows.map(({ appId }) => appId);
}
