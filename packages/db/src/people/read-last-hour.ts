import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { LIVE } from '../states/worker-states.ts';
import { QUEUED_MS } from './list-pools.ts';

/** Instants of the last hour, a minute apart; the last one is `at`. */
export const INSTANTS = 61;

/** A pool at each instant. */
export interface PoolHour {
  readonly pool: string;
  /** Jobs that waited, workers that lived, and those of them that had a job. */
  readonly waiting: readonly number[];
  readonly workers: readonly number[];
  readonly busy: readonly number[];
  /** How long the jobs that started in the minute before had been queued; null without any. */
  readonly queuedP50Ms: readonly (number | null)[];
  readonly queuedP95Ms: readonly (number | null)[];
}

export interface LastHour {
  readonly at: Date;
  /** Rows from before this instant were too many to be read. Null: all of the hour were. */
  readonly wholeSince: Date | null;
  readonly pools: readonly PoolHour[];
}

/** More would cost more than the picture is worth. */
const MOST_RECENT = 5_000;

const HOUR_AGO = sql`now() - interval '1 hour'`;

/** The first instant at or after this one. */
const instantAfter = (at: unknown) =>
  sql`greatest(0, ${INSTANTS - 1} - floor(extract(epoch from now() - ${at}) / 60))::integer`;

/**
 * How the pools fared in the last hour. Nothing samples them: rows have the instants from which all
 * of it follows. A job waits from when it is stored until it starts, a worker lives from its
 * reservation to its end. Left out are jobs that began before the newest rows and ended since, and
 * such workers whose pods are gone: jobs and workers that live are always there.
 */
export async function readLastHour(db: Kysely<Database>): Promise<LastHour> {
  const { rows } = await sql<LastHour>`
    with newest_job as materialized (
      select job_id, k8s_pool, created_at, queued_at, started_at, completed_at, wants_worker
      from jobs order by created_at desc limit ${MOST_RECENT}
    ), newest_worker as materialized (
      select pod_name, k8s_pool, created_at, assigned_at, completed_at
      from workers order by created_at desc limit ${MOST_RECENT}
    ), job as materialized (
      select distinct on (job_id) k8s_pool as pool, created_at, queued_at, started_at,
        case when not wants_worker then greatest(created_at, coalesce(started_at, completed_at)) end as waited_until
      from (
        select * from newest_job
        union all select job_id, k8s_pool, created_at, queued_at, started_at, completed_at, wants_worker
        from jobs where wants_worker or status = 'running'
      ) found
    ), worker as materialized (
      select distinct on (pod_name) k8s_pool as pool, created_at, assigned_at, completed_at from (
        select * from newest_worker
        union all select pod_name, k8s_pool, created_at, assigned_at, completed_at from workers where ${LIVE}
        union all select pod_name, k8s_pool, created_at, assigned_at, completed_at
        from workers where completed_at > ${HOUR_AGO} and pod_deleted_at is null
      ) found
    ), whole as (
      select max(since) as since from (
        select case when count(*) = ${MOST_RECENT} then min(created_at) end as since from newest_job
        union all select case when count(*) = ${MOST_RECENT} then min(created_at) end from newest_worker
      ) each
    ), span as (
      select pool, 'waiting' as what, created_at as began, waited_until as ended from job
      union all select pool, 'workers', created_at, completed_at from worker
      union all select pool, 'busy', least(assigned_at, completed_at), completed_at from worker where assigned_at is not null
    ), delta as (
      select pool, what, n, sum(change) as change from (
        select pool, what, ${instantAfter(sql`began`)} as n, 1 as change from span where ended is null or ended > ${HOUR_AGO}
        union all select pool, what, ${instantAfter(sql`ended`)}, -1 from span where ended > ${HOUR_AGO}
      ) changes group by 1, 2, 3
    ), queued as (
      select pool, ${instantAfter(sql`started_at`)} as n,
        percentile_cont(array[0.5, 0.95]) within group (order by ${QUEUED_MS}) as ms
      from job where started_at > ${HOUR_AGO} and queued_at is not null group by 1, 2
    ), pool as (select distinct pool from delta), instant as (select generate_series(0, ${INSTANTS - 1}) as n),
    many as (
      select pool, n, waiting.change as waiting, workers.change as workers, busy.change as busy, ms
      from pool cross join instant
        left join (select * from delta where what = 'waiting') waiting using (pool, n)
        left join (select * from delta where what = 'workers') workers using (pool, n)
        left join (select * from delta where what = 'busy') busy using (pool, n)
        left join queued using (pool, n)
    ), sums as (
      select pool, n, ms, sum(waiting) over w as waiting, sum(workers) over w as workers, sum(busy) over w as busy
      from many window w as (partition by pool order by n)
    )
    select now() as at, (select since from whole where since > ${HOUR_AGO}) as "wholeSince", coalesce((
      select jsonb_agg(of_pool order by of_pool ->> 'pool') from (
        select jsonb_build_object('pool', pool, 'waiting', jsonb_agg(coalesce(waiting, 0) order by n),
          'workers', jsonb_agg(coalesce(workers, 0) order by n), 'busy', jsonb_agg(coalesce(busy, 0) order by n),
          'queuedP50Ms', jsonb_agg(round(ms[1]::numeric) order by n), 'queuedP95Ms', jsonb_agg(round(ms[2]::numeric) order by n)) as of_pool
        from sums group by pool
      ) each
    ), '[]') as pools`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered no row');
  return row;
}
