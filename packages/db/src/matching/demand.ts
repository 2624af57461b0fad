import type { Demand } from '@paddock/domain/matching/snapshot';
import { NOT_ASSIGNED, OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';
import { sql } from 'kysely';
import { installationToday, loginToday, TOLD_ENDS } from '../entities/whom-to-ask.ts';
import { prepared } from '../connection/prepared.ts';
import { AWAY_SERVICES } from '../outages.ts';
import { onlyRowOf, rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { PLACELESS, RESERVED, RETURNABLE, UNASSIGNED, UNEXPLAINED } from '../states/states.ts';
import { BLAMED } from '../workers/failing-keys.ts';
import { hasWarm } from './reserve-workers.ts';
import type { KeyState } from '@paddock/domain/matching/plan-pass';

/**
 * `deficits`: per key with waiting jobs or unassigned workers, how many there are of each, and of
 * unexplained ends. A runner that ended well without a known job has surely run one of the jobs, so
 * it counts as supply for a while.
 *
 * Three counts from indexes alone, so the cost depends only on the waiting jobs and the unassigned
 * workers. They are fully joined, which PostgreSQL can only merge or hash. A left join planned
 * without waiting jobs would count all workers anew for each key.
 */
export const deficits = sql`
  deficits as (
    select demand_key, coalesce(w.waiting, 0) as waiting, coalesce(s.unassigned, 0) as unassigned, coalesce(u.ends, 0) as unexplained
    from (select demand_key, count(*) as waiting from jobs where wants_worker group by demand_key) w
    full join (
      select demand_key, count(*) as unassigned from workers
      where ${UNASSIGNED} group by demand_key
    ) s using (demand_key)
    full join (
      select demand_key, count(*) as ends from workers
      where ${UNEXPLAINED} group by demand_key
    ) u using (demand_key)
  )`;

export interface DemandTotals {
  /** Keys with waiting jobs. */
  keys: number;
  /** There are workers without a begun registration: they can be given back. */
  hasReservations: boolean;
  /** `demand_keys` says that jobs of a key wait that has none, or has rows to remove. */
  hasResting: boolean;
  /** How many workers are more than the waiting jobs of their keys. */
  spare: number;
  /** Surplus workers that were asked to end can serve again. */
  hasReturnable: boolean;
  /** A worker ends that got no job although one waited. */
  hasBlamed: boolean;
  /** The configuration keeps workers warm. */
  hasWarm: boolean;
  /** Milliseconds until the first pause ends that holds workers back; null: nothing pauses. */
  nextPauseEndMs: number | null;
  /** The services that rows of `outages` call away. */
  away: string[];
}

/** When more workers may be made although nothing notifies the matcher. */
const nextPauseEnd = sql`(
      select ceil(extract(epoch from min(ends_at) - now()) * 1000)::float8 from (
        select min(paused_until) as ends_at from demand_keys where paused_until > now()
        union all
        ${TOLD_ENDS}
        union all
        select min(paused_until) from runner_groups where paused_until > now()
      ) pauses)`;

/** Whether there is anything to match, at the cost of counting the waiting jobs. */
export const sumUpDemand = (db: Db) => onlyRowOf<DemandTotals>(db)`${prepared}
    with ${deficits}
    select count(*) filter (where waiting > 0) as keys, exists (
        select from demand_keys k left join deficits d using (demand_key) where (k.waiting > 0 or not ${IS_KEPT}) and coalesce(d.waiting, 0) = 0) as "hasResting",
      exists (select from workers where ${RESERVED}) as "hasReservations",
      coalesce(sum(greatest(unassigned - waiting, 0)), 0)::bigint as spare, exists (select from workers where ${RETURNABLE}) as "hasReturnable",
      exists (select from workers where ${BLAMED}) as "hasBlamed", ${hasWarm} as "hasWarm", ${nextPauseEnd} as "nextPauseEndMs", ${AWAY_SERVICES} as away
    from deficits`;

/** `unplaced`: how many workers of a key no node takes. */
const unplaced = sql`
  unplaced as materialized (
    select demand_key, count(*) as workers from workers where ${PLACELESS} group by demand_key
  )`;

/** Keys whose reservations a pass may give back. */
const reserved = sql`
  reserved as materialized (select distinct demand_key from workers where ${RESERVED})`;

/** No node takes any unassigned worker of the key. */
const lacksNodes = sql`coalesce(unplaced.workers >= d.unassigned, false)`;

/**
 * All keys that lack workers or have reservations, and those that `demand_keys` describes wrongly.
 */
export const findDemand = (db: Db, appIds: readonly number[]) => rowsOf<Demand>(db)`${prepared}
    with ${deficits}, ${unplaced}, ${reserved}
    select d.demand_key as "demandKey", j.entity_id as "entityId", j.entity_name as "entityName", ${loginToday('j')} as login,
      coalesce(i.installation_id, j.installation_id) as "installationId", j.scope_repo_id as "scopeRepoId", j.k8s_pool as pool,
      case when j.scope_repo_id <> 0 then j.repo_full_name end as "repoFullName", d.waiting, d.unassigned, d.unexplained, date_part('epoch', j.created_at) as oldest,
      case when k.waiting > 0 then
        json_build_object('waiting', k.waiting, 'unassigned', k.unassigned, 'cap', k.cap, 'waitReason', k.wait_reason) end as stored,
      case when k.pauses > 0 or k.failure_class not in (${NOT_ASSIGNED}, ${OUTDATED_RUNNER}) then k.failure_class end as "failureClass", ${lacksNodes} as "lacksNodes"
    from deficits d
    left join unplaced using (demand_key)
    left join reserved using (demand_key)
    left join demand_keys k using (demand_key)
    cross join lateral (
      select entity_id, entity_name, app_id, installation_id, scope_repo_id, repo_full_name, k8s_pool, created_at
      from jobs where demand_key = d.demand_key and wants_worker order by created_at, job_id limit 1
    ) j
    ${installationToday('j', appIds, 'app')}
    where d.waiting > 0 and (d.waiting > d.unassigned + d.unexplained or k.demand_key is null or k.wait_reason is not null or k.failures > 0 or reserved.demand_key is not null or ${lacksNodes}
      or k.waiting <> d.waiting or k.unassigned <> d.unassigned)`;

/**
 * Stores the findings of a pass about keys. A reason that stays keeps its first instant; one that
 * changes leaves its time to `wait_reason_changes`. Locks keys in order, as those that bind workers do.
 */
export async function saveKeyStates(trx: Trx, states: readonly KeyState[]): Promise<void> {
  if (states.length === 0) return;
  await sql`${prepared}
    with state as (
      select * from json_to_recordset(${JSON.stringify(states)}::json) as state("demandKey" bigint, "entityId" bigint, "entityName" text,
        "scopeRepoId" bigint, pool text, waiting integer, unassigned integer, cap integer, "waitReason" text)
    ), ended as (
      insert into wait_reason_changes (demand_key, reason, since, until)
      select k.demand_key, k.wait_reason, k.wait_since, now() from demand_keys k join state on "demandKey" = k.demand_key
      where k.wait_reason is not null and k.wait_reason is distinct from "waitReason"
    )
    insert into demand_keys as d (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, cap, wait_reason, wait_since)
    select "demandKey", "entityId", "entityName", "scopeRepoId", pool, waiting, unassigned, cap, "waitReason",
      case when "waitReason" is not null then now() end
    from state order by "demandKey"
    on conflict (demand_key) do update
      set entity_name = excluded.entity_name, waiting = excluded.waiting, unassigned = excluded.unassigned, cap = excluded.cap,
        wait_reason = excluded.wait_reason,
        wait_since = case when d.wait_reason is distinct from excluded.wait_reason then excluded.wait_since else d.wait_since end,
        updated_at = now()`.execute(trx);
}

/** The row of a resting key stays: its workers failed within the last day. */
const IS_KEPT = sql.raw<boolean>(`(failures > 0 and failed_at > now() - interval '1 day')`);

/** Ends the reasons of keys without waiting jobs, and removes rows that need not stay. */
export async function forgetRestingKeys(trx: Trx): Promise<void> {
  await sql`${prepared}
    with resting as materialized (
      select demand_key, wait_reason, wait_since,
        ${IS_KEPT} as is_kept
      from demand_keys d
      where (waiting > 0 or not ${IS_KEPT}) and not exists (select from jobs j where j.demand_key = d.demand_key and j.wants_worker)
      order by demand_key for update
    ), emptied as (
      update demand_keys d set waiting = 0, unassigned = 0, wait_reason = null, wait_since = null, updated_at = now()
      from resting where is_kept and d.demand_key = resting.demand_key
    ), removed as (
      delete from demand_keys d using resting where not is_kept and d.demand_key = resting.demand_key
    )
    insert into wait_reason_changes (demand_key, reason, since, until)
    select demand_key, wait_reason, wait_since, now() from resting where wait_reason is not null`.execute(
    trx,
  );
}
