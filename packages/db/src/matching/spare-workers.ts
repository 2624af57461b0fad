import type { SpareStops } from '@paddock/domain/matching/plan-spare';
import type { Returnable, SpareKey } from '@paddock/domain/matching/snapshot';
import type { WorkerOfTask } from '@paddock/domain/tasks/worker-tasks';
import type { StopReason } from '@paddock/domain/workers/stop-reasons';
import { sql } from 'kysely';
import { deficits } from './demand.ts';
import { loginToday } from '../entities/whom-to-ask.ts';
import { prepared } from '../connection/prepared.ts';
import { rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { RESERVED, RETIRABLE, RETURNABLE, UNASSIGNED } from '../states/states.ts';
import { milliseconds } from '../milliseconds.ts';
import type { Reservation } from '@paddock/domain/matching/pick-unwanted';

/** Keys with more unassigned workers than waiting jobs, with the entity's login today. */
export const findSpareKeys = (db: Db) => rowsOf<SpareKey>(db)`${prepared}
    with ${deficits}
    select d.demand_key as "demandKey", w.entity_id as "entityId", ${loginToday('w')} as login, w.scope_repo_id as "scopeRepoId",
      w.k8s_pool as pool, d.unassigned - d.waiting as spare
    from deficits d
    cross join lateral (
      select entity_id, entity_name, scope_repo_id, k8s_pool from workers
      where demand_key = d.demand_key and ${UNASSIGNED} limit 1
    ) w
    where d.unassigned > d.waiting`;

/** A worker whose end is asked for. */
export interface SpareWorker extends WorkerOfTask {
  demandKey: number;
}

/**
 * Asks for the end of registered workers, the oldest of each key first: those in the way of a cap
 * at any age, others once they have been registered for `surplusAfterMs`. Each returned worker
 * needs the task that ends it with all proofs. Passes over rows that another transaction is
 * writing: the matcher never waits.
 */
export async function stopSpareWorkers(
  trx: Trx,
  leaving: readonly SpareStops[],
  { surplusAfterMs }: { surplusAfterMs: number },
): Promise<SpareWorker[]> {
  if (leaving.length === 0) return [];
  const chosen = sql`
    with leaving as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(leaving)}::jsonb) as l("demandKey" bigint, count integer, "inTheWay" integer)
    ),
    -- All keys at once: a plan from a time without workers may read all of them, and must not do so for each key.
    of_keys as materialized (
      select pod_name, demand_key, coalesce(registered_at, pod_created_at, created_at) as ready_at,
        row_number() over (partition by demand_key order by created_at, pod_name) as place
      from workers where demand_key = any(array(select "demandKey" from leaving)) and ${RETIRABLE}
    )
    select pod_name from leaving join of_keys on demand_key = "demandKey"
    where place <= "inTheWay" or (place <= leaving.count and ready_at <= now() - ${milliseconds(surplusAfterMs)})`;
  return stop(trx, chosen, 'surplus');
}

/** Asks for the end of warm workers for their age. */
export async function renewWarmWorkers(
  trx: Trx,
  podNames: readonly string[],
): Promise<SpareWorker[]> {
  return podNames.length === 0
    ? []
    : stop(trx, sql`select unnest(${podNames}::text[]) as pod_name`, 'warm_expired');
}

const stop = (trx: Trx, chosen: ReturnType<typeof sql>, reason: StopReason) =>
  rowsOf<SpareWorker>(trx)`${prepared}
    with chosen as materialized (${chosen}),
    locked as (
      select pod_name from workers where pod_name = any(array(select pod_name from chosen)) and ${RETIRABLE}
      order by pod_name for update skip locked
    )
    update workers w set stopping_at = now(), stop_reason = ${reason}::text
    from locked where w.pod_name = locked.pod_name
    returning w.pod_name as "podName", w.demand_key as "demandKey", w.delivery_guid as "deliveryGuid"`;

/** A worker that serves again. */
export interface TakenBack extends WorkerOfTask {
  /** If not, its provisioning has to go on: it ended when the worker was to end. */
  hasPod: boolean;
}

/** Surplus workers that were asked to end and can serve again, the newest first. */
export const findReturnableWorkers = (db: Db) => rowsOf<Returnable>(db)`${prepared}
    select pod_name as "podName", demand_key as "demandKey", entity_id as "entityId", scope_repo_id as "scopeRepoId", k8s_pool as pool
    from workers where ${RETURNABLE} order by created_at desc, pod_name`;

/**
 * Takes back the request that workers end; `lockPlanned` holds their rows. The task that was to end
 * them reads its row before each step and finds that the worker stays.
 */
export async function takeBackWorkers(trx: Trx, podNames: readonly string[]): Promise<TakenBack[]> {
  if (podNames.length === 0) return [];
  return rowsOf<TakenBack>(trx)`${prepared}
    update workers set stopping_at = null, stop_reason = null, stop_held_by = null, stop_held_since = null, runs_read_from = null
    where pod_name = any(${podNames}::text[])
    returning pod_name as "podName", pod_uid is not null as "hasPod", delivery_guid as "deliveryGuid"`;
}

interface Row extends Omit<Reservation, 'podName' | 'stopping' | 'installationId'> {
  workers: { podName: string; stopping: boolean; installationId: number; createdAt: number }[];
}

/**
 * Workers that have not begun to register, the newest first, with demand and supply of their keys.
 */
export async function findReservations(db: Db): Promise<Reservation[]> {
  // Grouped by key: PostgreSQL joins nothing whose number it did not know when it made the plan.
  const rows = await rowsOf<Row>(db)`${prepared}
    with keys as materialized (
      select demand_key, entity_id, scope_repo_id, k8s_pool, min(entity_name) as entity_name,
        json_agg(json_build_object('podName', pod_name, 'stopping', stopping_at is not null, 'installationId', installation_id,
          'createdAt', extract(epoch from created_at))) as workers
      from workers where ${RESERVED}
      group by demand_key, entity_id, scope_repo_id, k8s_pool
    )
    select u.demand_key as "demandKey", u.entity_id as "entityId", ${loginToday('u')} as login, u.scope_repo_id as "scopeRepoId",
      u.k8s_pool as pool, u.workers, (select count(*) from jobs j where j.demand_key = u.demand_key and wants_worker) as waiting,
      (select count(*) from workers w where w.demand_key = u.demand_key and ${UNASSIGNED}) as unassigned
    from keys u`;
  const reservations = rows.flatMap(({ workers, ...key }) =>
    workers.map((worker) => Object.assign(worker, key)),
  );
  return reservations.toSorted(
    (a, b) => b.createdAt - a.createdAt || (a.podName < b.podName ? -1 : 1),
  );
}

/** Ends reservations, which have no Secret yet; `lockPlanned` holds their rows. */
export async function giveBackWorkers(trx: Trx, podNames: readonly string[]): Promise<void> {
  if (podNames.length === 0) return;
  // By name alone: with a further condition PostgreSQL may read an index of few workers anew for
  // each of them.
  await sql`${prepared}
    update workers
    set status = 'failed', completed_at = now(), secret_deleted_at = now(), stop_reason = coalesce(stop_reason, 'unwanted'),
      failure_info = jsonb_build_object('version', 1, 'message', 'no longer wanted')
    where pod_name = any(${podNames}::text[])`.execute(trx);
}
