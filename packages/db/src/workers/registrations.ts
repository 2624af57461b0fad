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
