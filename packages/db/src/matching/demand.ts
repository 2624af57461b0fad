import type { Demand } from '@paddock/domain/matching/snapshot';
import { NOT_ASSIGNED, OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql } from 'kysely';
import { deficits } from './deficits.ts';
import { installationToday, loginToday } from '../entities/installation-today.ts';
import { TOLD_ENDS } from '../entities/told.ts';
import { prepared } from '../connection/prepared.ts';
import { AWAY_SERVICES } from '../outages.ts';
import type { Database } from '../schema/tables.ts';
import { PLACELESS, RESERVED, RETURNABLE } from '../states/worker-states.ts';
import { IS_KEPT } from './demand-keys.ts';
import { BLAMED } from '../workers/failing-keys.ts';
import { hasWarm } from './warm-workers.ts';

export interface DemandTotals {
  /** Keys with waiting jobs. */
  keys: number;
  /** There are workers without a begun registration: they can be given back. */
  hasReservations: boolean;
  /** `demand_keys` has rows of keys with waiting jobs, or rows to remove. */
  hasStored: boolean;
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
export async function sumUpDemand(db: Kysely<Database>): Promise<DemandTotals> {
  const { rows } = await sql<DemandTotals>`${prepared}
    with ${deficits}
    select count(*) filter (where waiting > 0) as keys, exists (select from demand_keys where waiting > 0 or not ${IS_KEPT}) as "hasStored",
      exists (select from workers where ${RESERVED}) as "hasReservations",
      coalesce(sum(greatest(unassigned - waiting, 0)), 0)::bigint as spare, exists (select from workers where ${RETURNABLE}) as "hasReturnable",
      exists (select from workers where ${BLAMED}) as "hasBlamed", ${hasWarm} as "hasWarm", ${nextPauseEnd} as "nextPauseEndMs", ${AWAY_SERVICES} as away
    from deficits`.execute(db);
  const [totals] = rows;
  if (totals === undefined) throw new Error('PostgreSQL answered a sum with no row.');
  return totals;
}

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
export async function findDemand(
  db: Kysely<Database>,
  appIds: readonly number[],
): Promise<Demand[]> {
  const { rows } = await sql<Demand>`${prepared}
    with ${deficits}, ${unplaced}, ${reserved}
    select d.demand_key as "demandKey", j.entity_id as "entityId", j.entity_name as "entityName", ${loginToday('j')} as login,
      coalesce(i.installation_id, j.installation_id) as "installationId", j.scope_repo_id as "scopeRepoId", j.k8s_pool as pool,
      case when j.scope_repo_id <> 0 then j.repo_full_name end as "repoFullName", d.waiting, d.unassigned, d.unexplained, extract(epoch from j.created_at)::float8 as oldest,
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
    ${installationToday('j', appIds)}
    where d.waiting > 0 and (d.waiting > d.unassigned + d.unexplained or k.demand_key is null or k.wait_reason is not null or k.failures > 0 or reserved.demand_key is not null or ${lacksNodes}
      or k.waiting <> d.waiting or k.unassigned <> d.unassigned)`.execute(db);
  return rows;
}
