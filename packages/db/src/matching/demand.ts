import type { Demand } from '@paddock/domain/matching/snapshot';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql } from 'kysely';
import { RATE_LIMITED, REFUSED } from '../breakers/failure-classes.ts';
import { deficits } from './deficits.ts';
import { installationToday, loginToday } from '../entities/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import { IS_PROBED } from '../breakers/probes.ts';
import type { Database } from '../schema/tables.ts';
import { PLACELESS, RESERVED, RETURNABLE } from '../states/worker-states.ts';
import { GUARDS_WORKER } from '../workers/workers.ts';
import { unservedSigns } from './unserved-keys.ts';
import { hasWarm } from './warm-workers.ts';

export interface DemandTotals {
  /** Keys with waiting jobs. */
  keys: number;
  /** There are workers without a begun registration: they can be given back. */
  hasReservations: boolean;
  /** `demand_keys` has rows. */
  hasStored: boolean;
  /** How many workers are more than the waiting jobs of their keys. */
  spare: number;
  /** Surplus workers that were asked to end can serve again. */
  hasReturnable: boolean;
  /** A worker ends that got no job although one waited. */
  hasBlamed: boolean;
  /** A key that GitHub gave no jobs has got one. */
  hasServed: boolean;
  /** The configuration keeps workers warm. */
  hasWarm: boolean;
  /** Milliseconds until the first pause ends that holds workers back; null: nothing pauses. */
  nextPauseEndMs: number | null;
  /** GitHub or the cluster is away, and probes find out when it is back. */
  hasProbed: boolean;
}

/** When more workers may be made although nothing notifies the matcher. */
const nextPauseEnd = sql`(
      select ceil(extract(epoch from min(ends_at) - now()) * 1000)::float8 from (
        select min(paused_until) as ends_at from breakers where paused_until > now()
        union all
        select min(reset_at) from registration_budgets where reset_at > now()
        union all
        select min(paused_until) from runner_groups where paused_until > now()
      ) pauses)`;

/** Whether there is anything to match, at the cost of counting the waiting jobs. */
export async function sumUpDemand(db: Kysely<Database>): Promise<DemandTotals> {
  const { rows } = await sql<DemandTotals>`${prepared}
    with ${deficits}
    select count(*) filter (where waiting > 0) as keys, exists (select from demand_keys) as "hasStored",
      exists (select from workers where ${RESERVED}) as "hasReservations",
      coalesce(sum(greatest(unassigned - waiting, 0)), 0)::bigint as spare, exists (select from workers where ${RETURNABLE}) as "hasReturnable",
      ${unservedSigns}, ${hasWarm} as "hasWarm", ${nextPauseEnd} as "nextPauseEndMs", exists (select from breakers b where ${IS_PROBED}) as "hasProbed"
    from deficits`.execute(db);
  const [totals] = rows;
  if (totals === undefined) throw new Error('PostgreSQL answered a sum with no row.');
  return totals;
}

/**
 * `doubted`: keys with a delayed worker. Something it depends on has failed since it was reserved,
 * or a breaker is open, or its pod does not start for that failure. `placeless`: how many workers
 * of a key no node takes.
 */
const doubted = sql`
  doubted as materialized (
    select distinct on (w.demand_key) w.demand_key, b.subject_type, b.failure_class
    from breakers b
    cross join lateral (
      select demand_key from workers w
      where status = 'pending' and (pod_uid is null or stuck_reason = b.failure_class) and stopping_at is null
        and (created_at <= b.failed_at or b.pauses > 0) and ${GUARDS_WORKER} offset 0
    ) w
    where b.failure_class not in (${REFUSED}::text, ${NOT_ASSIGNED}::text) and (b.failure_class <> ${RATE_LIMITED}::text or b.paused_until > now())
    order by w.demand_key, b.failed_at desc
  ),
  placeless as materialized (
    select demand_key, count(*) as workers from workers
    where ${PLACELESS} group by demand_key
  )`;

/** Keys whose reservations a pass may give back. */
const reserved = sql`
  reserved as materialized (select distinct demand_key from workers where ${RESERVED})`;

/** No node takes any unassigned worker of the key. */
const lacksNodes = sql`coalesce(placeless.workers >= d.unassigned, false)`;

/**
 * All keys that lack workers or have reservations, and those that `demand_keys` describes wrongly.
 */
export async function findDemand(
  db: Kysely<Database>,
  appIds: readonly number[],
): Promise<Demand[]> {
  const { rows } = await sql<Demand>`${prepared}
    with ${deficits}, ${doubted}, ${reserved}
    select d.demand_key as "demandKey", j.entity_id as "entityId", j.entity_name as "entityName", ${loginToday('j')} as login,
      coalesce(i.installation_id, j.installation_id) as "installationId", j.scope_repo_id as "scopeRepoId", j.k8s_pool as pool,
      case when j.scope_repo_id <> 0 then j.repo_full_name end as "repoFullName", d.waiting, d.unassigned, d.unexplained, extract(epoch from j.created_at)::float8 as oldest,
      case when k.demand_key is not null then
        json_build_object('waiting', k.waiting, 'unassigned', k.unassigned, 'cap', k.cap, 'waitReason', k.wait_reason) end as stored,
      case when doubted.demand_key is not null then json_build_object('type', doubted.subject_type, 'failureClass', doubted.failure_class)
        when ${lacksNodes} then json_build_object('type', 'capacity', 'failureClass', 'unschedulable') end as doubt
    from deficits d
    left join doubted using (demand_key)
    left join placeless using (demand_key)
    left join reserved using (demand_key)
    left join demand_keys k using (demand_key)
    cross join lateral (
      select entity_id, entity_name, app_id, installation_id, scope_repo_id, repo_full_name, k8s_pool, created_at
      from jobs where demand_key = d.demand_key and wants_worker order by created_at, job_id limit 1
    ) j
    ${installationToday('j', appIds)}
    where d.waiting > 0 and (d.waiting > d.unassigned + d.unexplained or k.demand_key is null or k.wait_reason is not null or doubted.demand_key is not null or reserved.demand_key is not null or ${lacksNodes}
      or k.waiting <> d.waiting or k.unassigned <> d.unassigned)`.execute(db);
  return rows;
}
