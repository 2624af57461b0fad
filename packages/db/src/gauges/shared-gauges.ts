import type { DeclaredGauges, Metrics, Sample } from '@paddock/runtime/metrics';
import { sql } from 'kysely';
import { IS_REFUSED } from '../entities/refusals.ts';
import { isMigrationNeeded } from '../schema-version.ts';
import type { Db } from '../schema/tables.ts';
import { LIVE } from '../states/states.ts';
import { DOCUMENT_IN_FORCE } from '../pools/pools-documents.ts';

/** Gauges of shared rows: every replica of every service reads the same values. */
const SHARED = {
  paddock_jobs_waiting: {
    help: 'Jobs that wait for a runner, by pool and the reason',
    labels: ['pool', 'reason'],
  },
  paddock_oldest_waiting_job_seconds: {
    help: 'How long the longest waiting job of a pool has been known, by the reason; 0 if none waits',
    labels: ['pool', 'reason'],
  },
  paddock_oldest_waiting_job_has_idle_worker: {
    help: '1 if GitHub does not give the longest waiting job of a pool to an idle worker that could run it',
    labels: ['pool'],
  },
  paddock_workers: {
    help: 'Workers that have not ended, by pool and state',
    labels: ['pool', 'state'],
  },
  paddock_workers_lacking: {
    help: 'Workers that waiting jobs lack and that are held back, by pool',
    labels: ['pool'],
  },
  paddock_keys_failing: {
    help: 'Demand keys whose workers failed so often that they are paused, or that one of them tries, by pool and failure',
    labels: ['pool', 'reason'],
  },
  paddock_refused: {
    help: 'Apps, installations and repositories that GitHub refuses us, by kind: no call there has succeeded since',
    labels: ['subject'],
  },
  paddock_registration_budget_remaining: {
    help: 'Registrations that GitHub still allows in this hour, by entity of the configuration; the least of its installations',
    labels: ['entity'],
  },
} satisfies DeclaredGauges;

export type SharedGauge = keyof typeof SHARED;

const SCHEMA = {
  paddock_migration_needed: {
    help: '1 while the schema of the database is older than this service: run the migration',
  },
} satisfies DeclaredGauges;

/**
 * Declares the gauges. Each scrape reads them; they are absent while PostgreSQL does not answer.
 */
export function declareSharedGauges(metrics: Metrics, db: Db): void {
  metrics.readings(SHARED, () => readSharedState(db));
  // In a separate statement: with an older schema the other one may fail.
  metrics.readings(SCHEMA, async () => [
    { gauge: 'paddock_migration_needed', labels: {}, value: Number(await isMigrationNeeded(db)) },
  ]);
}

/**
 * Joins the entry of the configuration for installation `i`, as `entity`. Null: the one for all
 * others applies. So gauges have a bounded set of labels.
 */
const ENTRY = sql`
      left join lateral (
        select lower(entity) as entity from document cross join jsonb_object_keys(content -> 'entities') entity
        where lower(entity) in (lower(i.login), 'id:' || i.entity_id)
        order by lower(entity) = lower(i.login) limit 1
      ) named on true`;

/**
 * Demand, supply and what holds them back, as samples of gauges. One statement, so that the figures
 * agree. It reads waiting and live rows through partial indexes, and no history. Each pool in force
 * has a sample of each gauge of pools, perhaps 0.
 */
const sharedState = sql<Sample<SharedGauge>>`
    with document as materialized ${DOCUMENT_IN_FORCE}, pools as materialized (
      select p ->> 'name' as pool from document cross join jsonb_array_elements(content -> 'pools') p
    ), waiting as materialized (
      -- The pool of one job for all of its key: so the count stays within the index.
      select demand_key, (select k8s_pool from jobs one where one.demand_key = of.demand_key and wants_worker limit 1) as pool, jobs, oldest_at
      from (select demand_key, count(*) as jobs, min(created_at) as oldest_at from jobs where wants_worker group by demand_key) of
    ), oldest as materialized (
      select distinct on (pool) pool, demand_key, oldest_at from waiting order by pool, oldest_at
    ), alive as materialized (
      select k8s_pool as pool, demand_key, case when status = 'pending' then 'starting' when assigned_at is not null then 'busy'
          when stopping_at is not null then 'stopping' else 'idle' end as state, count(*) as workers
      from workers where ${LIVE} group by 1, 2, 3
    ), states as (
      select pool, state, 0 as workers from pools cross join unnest(array['starting', 'idle', 'busy', 'stopping']) state
      union all select pool, state, workers from alive
    ), reasons as (
      select pool, 'none' as reason, 0 as jobs, now() as oldest_at from pools
      union all select pool, coalesce(wait_reason, 'none'), jobs, oldest_at from waiting left join demand_keys using (demand_key)
    ), lacking as (
      select pool, 0 as workers from pools
      union all select k8s_pool, greatest(0, waiting - unassigned) from demand_keys where wait_reason is not null
    ), budgets as (
      select coalesce(entity, '*') as entity, registrations_left
      from installations i ${ENTRY} where registrations_reset_at > now()
    )
    select 'paddock_jobs_waiting' as gauge, jsonb_build_object('pool', pool, 'reason', reason) as labels, sum(jobs)::float8 as value
    from reasons group by pool, reason
    union all
    select 'paddock_oldest_waiting_job_seconds', jsonb_build_object('pool', pool, 'reason', reason),
      extract(epoch from now() - least(now(), min(oldest_at)))::float8
    from reasons group by pool, reason
    union all
    select 'paddock_oldest_waiting_job_has_idle_worker', jsonb_build_object('pool', pool),
      exists (select from alive a where a.demand_key = oldest.demand_key and a.state = 'idle')::integer
    from pools full join oldest using (pool)
    union all
    select 'paddock_workers', jsonb_build_object('pool', pool, 'state', state), sum(workers)::float8 from states group by pool, state
    union all
    select 'paddock_workers_lacking', jsonb_build_object('pool', pool), sum(workers)::float8 from lacking group by pool
    union all
    select 'paddock_keys_failing', jsonb_build_object('pool', k8s_pool, 'reason', failure_class), count(*)::float8
    from demand_keys where pauses > 0 group by k8s_pool, failure_class
    union all
    select 'paddock_registration_budget_remaining', jsonb_build_object('entity', entity), min(registrations_left)::float8 from budgets group by entity
    union all
    select 'paddock_refused', jsonb_build_object('subject', subject), refused::float8
    from (values
      ('app', (select count(*) from apps where ${IS_REFUSED})),
      ('installation', (select count(*) from installations where ${IS_REFUSED} and deleted_at is null)),
      ('repository', (select count(*) from repositories where ${IS_REFUSED}))
    ) told(subject, refused)`;

export async function readSharedState(db: Db): Promise<Sample<SharedGauge>[]> {
  return (await sharedState.execute(db)).rows;
}
