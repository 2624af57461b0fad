import type { Leaving, SpareKey } from '@paddock/domain/matching/plan-spare';
import type { LiveWorkers } from '@paddock/domain/matching/share-room';
import type { StopReason } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql, type Transaction } from 'kysely';
import { deficits } from './deficits.ts';
import { loginToday } from '../accounts/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';

/** All keys with more unassigned workers than waiting jobs, with the account's present login where it is known. */
export async function findSpareKeys(db: Kysely<Database>): Promise<SpareKey[]> {
  const { rows } = await sql<SpareKey>`${prepared}
    with ${deficits}
    select d.demand_key as "demandKey", w.entity_id as "entityId", ${loginToday('w')} as login, w.scope_repo_id as "scopeRepoId",
      w.k8s_pool as pool, d.unassigned - d.waiting as spare
    from deficits d
    cross join lateral (
      select entity_id, entity_name, scope_repo_id, k8s_pool from workers
      where demand_key = d.demand_key and status in ('pending', 'running') and assigned_at is null and stopping_at is null limit 1
    ) w
    where d.unassigned > d.waiting`.execute(db);
  return rows;
}

/** Live workers per key whose end was asked for. */
export async function countStoppingWorkers(db: Kysely<Database>): Promise<LiveWorkers[]> {
  const { rows } = await sql<LiveWorkers>`${prepared}
    select demand_key as "demandKey", entity_id as "entityId", scope_repo_id as "scopeRepoId", k8s_pool as pool, count(*) as alive
    from workers where status in ('pending', 'running') and stopping_at is not null
    group by demand_key, entity_id, scope_repo_id, k8s_pool`.execute(db);
  return rows;
}

/** A worker whose end is asked for. */
export interface RetiredWorker {
  podName: string;
  demandKey: number;
}

/** Unassigned, and registered at GitHub or in the cluster: what a reservation is not any more. */
const isStoppable = sql`status in ('pending', 'running') and assigned_at is null and stopping_at is null
  and (registered_at is not null or pod_uid is not null)`;

/**
 * Asks for the end of spare workers that are registered, the oldest of each key first: those in the way of a cap whatever their age, others
 * once they have been registered for `surplusAfterMs`. What it returns is for the tasks that end them with all proofs (E5). A row that
 * somebody else is writing is passed over: the matcher waits for nobody.
 */
export async function retireWorkers(
  trx: Transaction<Database>,
  leaving: readonly Leaving[],
  { surplusAfterMs }: { surplusAfterMs: number },
): Promise<RetiredWorker[]> {
  if (leaving.length === 0) return [];
  const chosen = sql`
    with leaving as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(leaving)}::jsonb) as l("demandKey" bigint, count integer, "inTheWay" integer)
    ),
    -- All keys at once: a plan that was made while there were no workers may read all of them, and must not do so for each key.
    of_keys as materialized (
      select pod_name, demand_key, coalesce(registered_at, pod_created_at, created_at) as ready_at,
        row_number() over (partition by demand_key order by created_at, pod_name) as place
      from workers where demand_key = any(array(select "demandKey" from leaving)) and ${isStoppable}
    )
    select pod_name from leaving join of_keys on demand_key = "demandKey"
    where place <= "inTheWay" or (place <= leaving.count and ready_at <= now() - ${surplusAfterMs}::float8 * interval '1 millisecond')`;
  return stop(trx, chosen, 'surplus');
}

/** So many warm workers of a key, the oldest first, have come of age and are to be replaced (C10). */
export interface Renewal {
  readonly demandKey: number;
  readonly count: number;
}

/** Asks for the end of warm workers that have been registered for `lifetimeMs`. */
export async function retireAgedWarmWorkers(
  trx: Transaction<Database>,
  renewals: readonly Renewal[],
  { lifetimeMs }: { lifetimeMs: number },
): Promise<RetiredWorker[]> {
  if (renewals.length === 0) return [];
  const chosen = sql`
    with renewals as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(renewals)}::jsonb) as r("demandKey" bigint, count integer)
    ),
    of_keys as materialized (
      select pod_name, demand_key, row_number() over (partition by demand_key order by registered_at, pod_name) as place
      from workers
      where demand_key = any(array(select "demandKey" from renewals)) and is_warm and ${isStoppable}
        and registered_at <= now() - ${lifetimeMs}::float8 * interval '1 millisecond'
    )
    select pod_name from renewals join of_keys on demand_key = "demandKey" where place <= renewals.count`;
  return stop(trx, chosen, 'warm_expired');
}

async function stop(trx: Transaction<Database>, chosen: ReturnType<typeof sql>, reason: StopReason): Promise<RetiredWorker[]> {
  const { rows } = await sql<RetiredWorker>`${prepared}
    with chosen as materialized (${chosen}),
    locked as (
      select pod_name from workers where pod_name = any(array(select pod_name from chosen)) and ${isStoppable}
      order by pod_name for update skip locked
    )
    update workers w set stopping_at = now(), stop_reason = ${reason}::text
    from locked where w.pod_name = locked.pod_name
    returning w.pod_name as "podName", w.demand_key as "demandKey"`.execute(trx);
  return rows;
}

/** A worker that is in supply again. */
export interface TakenBack {
  podName: string;
  /** Its pod was never seen: its provisioning, which ended when the worker was stopped, has to go on. */
  hasPod: boolean;
  deliveryGuid: string | null;
}

/**
 * Takes workers back that were to end only for want of jobs, where jobs wait now: as many as are lacking, the newest first, until their
 * deregistration begins. The task that was to end them reads its row before each step and finds that it is not to be ended any more.
 */
export async function takeBackWorkers(trx: Transaction<Database>): Promise<TakenBack[]> {
  const { rows } = await sql<TakenBack>`${prepared}
    with ${deficits},
    -- Counted once, however many workers could come back.
    wanting as materialized (select demand_key, lacking from deficits where lacking > 0),
    returning_workers as materialized (
      select pod_name, demand_key, row_number() over (partition by demand_key order by created_at desc, pod_name) as place
      from workers where ${isReturnable}
    ),
    chosen as materialized (
      select pod_name from returning_workers r join wanting d using (demand_key) where r.place <= d.lacking
    ),
    locked as (
      select pod_name from workers where pod_name = any(array(select pod_name from chosen)) and ${isReturnable}
      order by pod_name for update skip locked
    )
    update workers w set stopping_at = null, stop_reason = null, stop_held_by = null, stop_held_since = null
    from locked where w.pod_name = locked.pod_name
    returning w.pod_name as "podName", w.pod_uid is not null as "hasPod", w.delivery_guid as "deliveryGuid"`.execute(trx);
  return rows;
}

/** To be ended only because no job waited. */
export const isReturnable = sql`status in ('pending', 'running') and stopping_at is not null and assigned_at is null
  and deregistration_started_at is null and stop_reason in ('surplus', 'idle')`;
