import type { UnservedPauses } from '@paddock/domain/matching/matching-settings';
import { type Kysely, sql, type Transaction } from 'kysely';
import { installationToday } from '../entities/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import { milliseconds } from '../milliseconds.ts';
import type { Database, EntityType } from '../schema/tables.ts';
import { ANSWER_AGE_LIMIT } from '../workers/request-stops.ts';
import { LIVE, STOPPING } from '../states/worker-states.ts';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';

/** The worker ends because it got no job although one waited. */
const BLAMED = sql`${STOPPING} and stop_reason = 'not_assigned' and assigned_at is null`;

/** A key that has just gone unserved again. */
export interface UnservedKey {
  demandKey: number;
  entityName: string;
  pool: string;
  /** How often the key has been paused; 1 the first time. */
  rounds: number;
  pausedUntil: Date;
}

/**
 * Writes down keys to which GitHub gives no jobs: a worker of the key ends because it was idle past
 * its deadline while a job waited. It takes the word of GitHub that a job which the worker could
 * have had is still queued; a job that was cancelled unheard proves nothing. The first time the
 * worker is replaced as usual. If a worker that was made since then fares no better, the key is
 * paused. Returns the paused keys.
 */
export async function noteUnservedKeys(
  trx: Transaction<Database>,
  { firstMs, longestMs }: UnservedPauses,
): Promise<UnservedKey[]> {
  const { rows } = await sql<UnservedKey>`${prepared}
    with blamed as (
      select demand_key, entity_id, scope_repo_id, k8s_pool, min(entity_name) as entity_name, max(created_at) as created_at
      from workers w where ${BLAMED}
        and exists (
          select from jobs j where j.demand_key = w.demand_key and j.wants_worker and j.created_at <= coalesce(w.registered_at, w.created_at)
            and j.seen_gone_at is null and j.looked_up_at >= w.stopping_at - ${ANSWER_AGE_LIMIT})
      group by demand_key, entity_id, scope_repo_id, k8s_pool
    ),
    noted as (
      insert into unserved_keys as u (demand_key, entity_id, scope_repo_id, k8s_pool, worker_created_at)
      select demand_key, entity_id, scope_repo_id, k8s_pool, created_at from blamed
      on conflict (demand_key) do update
        set rounds = u.rounds + 1, worker_created_at = excluded.worker_created_at, noted_at = now(),
          paused_until = now() + ${milliseconds(sql`least(${firstMs}::float8 * 2 ^ least(u.rounds, 30), ${longestMs}::float8)`)}
        -- A replacement: it was made in the transaction that noted the key, or later.
        where excluded.worker_created_at >= u.noted_at
      returning demand_key, k8s_pool, rounds, paused_until
    )
    select demand_key as "demandKey", entity_name as "entityName", noted.k8s_pool as pool, rounds, paused_until as "pausedUntil"
    from noted join blamed using (demand_key) where rounds > 0`.execute(trx);
  return rows;
}

/** Forgets keys whose worker has got a job since, and what is older than a day. */
export async function forgetServedKeys(trx: Transaction<Database>): Promise<void> {
  await sql`${prepared}
    delete from unserved_keys u
    where noted_at < now() - interval '1 day' or exists (
      select from workers w
      where w.demand_key = u.demand_key and ${LIVE} and w.assigned_at >= u.noted_at)`.execute(trx);
}

/**
 * Call it when GitHub has said that these jobs had ended while they waited here. Forgets their keys
 * if no job waits that did when the key was written down: that explains why its workers got none.
 * Wakes the matcher.
 */
export async function forgetFoundOutKeys(
  trx: Transaction<Database>,
  jobIds: readonly number[],
): Promise<void> {
  if (jobIds.length === 0) return;
  await sql`
    with forgotten as (
      delete from unserved_keys u
      where demand_key in (select demand_key from jobs where job_id = any(${jobIds}::bigint[]))
        and not exists (select from jobs j where j.demand_key = u.demand_key and j.wants_worker and j.created_at <= u.noted_at)
      returning demand_key
    )
    select pg_notify(current_schema() || '_queue_event', 'workers') from forgotten`.execute(trx);
}

/**
 * Columns of a select: whether a worker ends that went without a job, and whether any key goes
 * unserved.
 */
export const unservedSigns = sql`
  exists (
    select from workers where ${BLAMED}
  ) as "hasBlamed", exists (select from unserved_keys) as "hasUnserved"`;

/** What a request for the access of an unserved key's runner group takes, as it is known today. */
export interface UnservedKeyPlace {
  entityId: number;
  entityType: EntityType;
  login: string;
  appId: number;
  installationId: number;
  scopeRepoId: number;
  /** The group of its pool; null: the pool has gone. */
  runnerGroup: string | null;
}

/** Undefined: the key is served again, or no App may be used on its entity now. */
export async function findUnservedKey(
  db: Kysely<Database>,
  demandKey: number,
  appIds: readonly number[],
): Promise<UnservedKeyPlace | undefined> {
  const { rows } = await sql<UnservedKeyPlace>`
    select u.entity_id as "entityId", entity.entity_type as "entityType", entity.login, i.app_id as "appId", i.installation_id as "installationId",
      u.scope_repo_id as "scopeRepoId",
      (select p ->> 'runnerGroup' from ${POOLS_IN_FORCE} where p ->> 'name' = u.k8s_pool) as "runnerGroup"
    from unserved_keys u
    ${installationToday('u', appIds, 'nothing')}
    join installations entity on entity.entity_id = u.entity_id and entity.app_id = i.app_id
    where u.demand_key = ${demandKey}`.execute(db);
  return rows[0];
}

/** Writes down a sentence about the access that a paused key's runner group gives. */
export async function saveUnservedAccess(
  db: Kysely<Database>,
  demandKey: number,
  access: string,
): Promise<void> {
  await db
    .updateTable('unserved_keys')
    .set({ access })
    .where('demand_key', '=', demandKey)
    .execute();
}
