import { type Kysely, sql } from 'kysely';
import { installationToday, loginToday } from '../entities/installation-today.ts';
import { mayCall } from '../entities/told.ts';
import type { Database, EntityType } from '../schema/tables.ts';
import { prefixOfInstance } from './worker-name.ts';
import { milliseconds } from '../milliseconds.ts';

/**
 * A failed worker whose registration GitHub may still have, with its entity and repository as known
 * now.
 */
export interface LeftRegistration {
  podName: string;
  /** Null: GitHub's answer to the registration never came, so there may or may not be a runner. */
  runnerId: number | null;
  entityId: number;
  entityType: EntityType;
  /** Today's. */
  login: string;
  appId: number;
  installationId: number;
  /** 0: registered at the organisation. */
  scopeRepoId: number;
  madeForJobId: number | null;
  deliveryGuid: string | null;
}

export interface LeftRegistrationsQuery {
  /** How long after the worker's end nothing is touched, in milliseconds. */
  graceMs: number;
  /** The Apps that are configured here. */
  appIds: readonly number[];
  limit: number;
  /** Leaves out these workers. */
  except: readonly string[];
}

/**
 * Registrations of failed workers that GitHub may still have: entities in turn, each with the
 * longest ended; only names of our instance. Leaves out what GitHub refused us lately, so that a gone installation costs one
 * call an hour, and entities on which no App may be used.
 */
export async function findLeftRegistrations(
  db: Kysely<Database>,
  query: LeftRegistrationsQuery,
): Promise<LeftRegistration[]> {
  const { graceMs, appIds, limit, except } = query;
  const { rows } = await sql<LeftRegistration>`
    select w.pod_name as "podName", w.runner_id as "runnerId", w.entity_id as "entityId", w.entity_type as "entityType",
      ${loginToday('w')} as login, i.app_id as "appId", i.installation_id as "installationId",
      w.scope_repo_id as "scopeRepoId",
      w.made_for_job_id as "madeForJobId", w.delivery_guid as "deliveryGuid"
    from workers w
    ${installationToday('w', appIds)}
    where w.status = 'failed' and w.registration_started_at is not null and w.registration_gone_at is null
      and w.completed_at < now() - ${milliseconds(graceMs)}
      and starts_with(w.pod_name, ${prefixOfInstance(sql`(select instance_id from instance)`)})
      and w.pod_name <> all(${except}::text[])
      and i.app_id is not null and ${mayCall({ appId: 'i.app_id', entityId: 'w.entity_id', repoId: 'w.scope_repo_id' })}
    order by row_number() over (partition by w.entity_id order by w.completed_at, w.pod_name), w.completed_at, w.pod_name
    limit ${limit}`.execute(db);
  return rows;
}

/** Notes that GitHub no longer knows these runners. */
export async function markRegistrationsGone(
  db: Kysely<Database>,
  podNames: readonly string[],
): Promise<number> {
  const { rows } = await sql`
    update workers set registration_gone_at = now()
    where pod_name in (select pod_name from workers where pod_name = any(${podNames}::text[]) order by pod_name for update)
      and registration_gone_at is null
    returning pod_name`.execute(db);
  return rows.length;
}
