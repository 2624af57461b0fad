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

/** The worker that a registration was made for. */
export interface NamedWorker {
  name: string;
  isLive: boolean;
  namespace: string;
}

/** The workers of these names, by name. */
export async function findWorkersByName(
  db: Kysely<Database>,
  names: readonly string[],
): Promise<Map<string, NamedWorker>> {
  const { rows } = await sql<NamedWorker>`
    select pod_name as name, ${LIVE} as "isLive", namespace
    from workers where pod_name = any(${names}::text[])`.execute(db);
  return new Map(rows.map((worker) => [worker.name, worker]));
}

/**
 * Stores which registrations without a live worker a complete list of the scope showed unused, and
 * forgets those not shown now. Returns the names that earlier lists showed too, the first of them
 * before the grace, in milliseconds.
 */
export async function noteLeftRegistrations(
  db: Kysely<Database>,
  { entityId, scopeRepoId }: Pick<KnownScope, 'entityId' | 'scopeRepoId'>,
  names: readonly string[],
  graceMs: number,
): Promise<string[]> {
  // Its parts all see the rows as they were before.
  const { rows } = await sql<{ name: string }>`
    with known as (
      select name, first_seen_at from left_registrations
      where entity_id = ${entityId} and scope_repo_id = ${scopeRepoId}
    ), forgotten as (
      delete from left_registrations
      where entity_id = ${entityId} and scope_repo_id = ${scopeRepoId} and name <> all(${names}::text[])
    ), noted as (
      insert into left_registrations (entity_id, scope_repo_id, name)
      select ${entityId}, ${scopeRepoId}, name from unnest(${names}::text[]) as shown(name)
      on conflict do nothing
    )
    select name from known
    where name = any(${names}::text[]) and first_seen_at < now() - ${milliseconds(graceMs)}`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}
