import { type Kysely, sql } from 'kysely';
import type { BreakerSubject } from '../breakers/breaker-subjects.ts';
import { RATE_LIMITED, REFUSED } from '../breakers/failure-classes.ts';
import { deficits } from './deficits.ts';
import { installationToday, loginToday } from '../accounts/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import { IS_PROBED } from '../breakers/probes.ts';
import { isReturnable } from './spare-workers.ts';
import type { Database } from '../schema/tables.ts';
import { GUARDS_WORKER } from '../workers/workers.ts';
import { unservedSigns } from './unserved-keys.ts';
import { hasWarm } from './warm-workers.ts';

export interface DemandTotals {
  /** Keys with waiting jobs. */
  keys: number;
  /** Workers that all keys together lack, before any cap. */
  lacking: number;
  /** There are reservations that nobody has begun to register: they can be given back. */
  hasUnregistered: boolean;
  /** `demand_keys` has rows. */
  hasStored: boolean;
  /** Workers beyond the waiting jobs of their keys. */
  spare: number;
  /** There are workers to be ended for want of jobs that can still be taken back. */
  hasReturnable: boolean;
  /** A worker is being ended that went without a job although one waited; or that was so with some key lately. */
  hasBlamed: boolean;
  hasUnserved: boolean;
  /** The configuration keeps workers warm. */
  hasWarm: boolean;
  /** In how many milliseconds the first pause of something that holds workers back is over; null: nothing pauses. */
  nextPauseEndMs: number | null;
  /** Something is away that probes can tell to be back. */
  hasProbed: boolean;
}

/** Instants at which more workers may be made, with nothing to tell of it but the clock. */
const nextPauseEnd = sql`(
      select ceil(extract(epoch from min(ends_at) - now()) * 1000)::float8 from (
        select min(paused_until) as ends_at from breakers where paused_until > now()
        union all
        select min(paused_until) from registration_budgets where paused_until > now()
        union all
        select min(reset_at) from registration_budgets where reset_at > now()
        union all
        select min(paused_until) from unserved_keys where paused_until > now()
        union all
        select min(paused_until) from runner_groups where paused_until > now()
      ) pauses)`;

/** Whether there is anything to match, at the cost of counting what waits. */
export async function sumUpDemand(db: Kysely<Database>): Promise<DemandTotals> {
  const { rows } = await sql<DemandTotals>`${prepared}
    with ${deficits}
    select count(*) filter (where waiting > 0) as keys, coalesce(sum(lacking), 0)::bigint as lacking, exists (select from demand_keys) as "hasStored",
      exists (select from workers where status = 'pending' and registration_started_at is null and pod_uid is null) as "hasUnregistered",
      coalesce(sum(greatest(unassigned - waiting, 0)), 0)::bigint as spare, exists (select from workers where ${isReturnable}) as "hasReturnable",
      ${unservedSigns}, ${hasWarm} as "hasWarm", ${nextPauseEnd} as "nextPauseEndMs", exists (select from breakers b where ${IS_PROBED}) as "hasProbed"
    from deficits`.execute(db);
  const [totals] = rows;
  if (totals === undefined) throw new Error('PostgreSQL answered a sum with no row.');
  return totals;
}

/** Demand and supply of one key, with what `demand_keys` says of it so far. */
export interface Demand {
  demandKey: number;
  entityId: number;
  entityName: string;
  /** Today's login where it is known, else that of the key's oldest job. */
  login: string;
  /** Today's installation where it is known, else that of the key's oldest job. */
  installationId: number;
  scopeRepoId: number;
  pool: string;
  /** Of its oldest waiting job, where its workers register at a repository. */
  repoFullName: string | null;
  waiting: number;
  unassigned: number;
  lacking: number;
  /** When the oldest of the waiting jobs became known, in seconds since the epoch. */
  oldest: number;
  stored: { waiting: number; unassigned: number; cap: number | null; waitReason: string | null } | null;
  /** What the newest failure was that one of its workers waits after, although nothing is held back; `capacity`: no node takes one. */
  doubt: { type: BreakerSubject['type'] | 'capacity'; failureClass: string } | null;
}

/**
 * Keys with a worker that has no pod yet and waits for something that failed: it was reserved before the failure, or a breaker is open. Or
 * its pod is there and does not start, for what has failed. Beside them, how many workers of a key no node takes.
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
    where b.failure_class <> ${REFUSED}::text and (b.failure_class <> ${RATE_LIMITED}::text or b.paused_until > now())
    order by w.demand_key, b.failed_at desc
  ),
  placeless as materialized (
    select demand_key, count(*) as workers from workers
    where unschedulable_at is not null and status = 'pending' and stopping_at is null group by demand_key
  )`;

/** None is on its way but those that no node takes. */
const lacksNodes = sql`coalesce(placeless.workers >= d.unassigned, false)`;

/** All keys that lack workers, and those of which `demand_keys` does not say what is true now. */
export async function findDemand(db: Kysely<Database>, appIds: readonly number[]): Promise<Demand[]> {
  const { rows } = await sql<Demand>`${prepared}
    with ${deficits}, ${doubted}
    select d.demand_key as "demandKey", j.entity_id as "entityId", j.entity_name as "entityName", ${loginToday('j')} as login,
      coalesce(i.installation_id, j.installation_id) as "installationId", j.scope_repo_id as "scopeRepoId", j.k8s_pool as pool,
      case when j.scope_repo_id <> 0 then j.repo_full_name end as "repoFullName", d.waiting, d.unassigned, d.lacking, extract(epoch from j.created_at)::float8 as oldest,
      case when k.demand_key is not null then
        json_build_object('waiting', k.waiting, 'unassigned', k.unassigned, 'cap', k.cap, 'waitReason', k.wait_reason) end as stored,
      case when doubted.demand_key is not null then json_build_object('type', doubted.subject_type, 'failureClass', doubted.failure_class)
        when ${lacksNodes} then json_build_object('type', 'capacity', 'failureClass', 'unschedulable') end as doubt
    from deficits d
    left join doubted using (demand_key)
    left join placeless using (demand_key)
    left join demand_keys k using (demand_key)
    cross join lateral (
      select entity_id, entity_name, app_id, installation_id, scope_repo_id, repo_full_name, k8s_pool, created_at
      from jobs where demand_key = d.demand_key and wants_worker order by created_at, job_id limit 1
    ) j
    ${installationToday('j', appIds)}
    where d.waiting > 0 and (d.lacking > 0 or k.demand_key is null or k.wait_reason is not null or doubted.demand_key is not null or ${lacksNodes}
      or k.waiting <> d.waiting or k.unassigned <> d.unassigned)`.execute(db);
  return rows;
}
