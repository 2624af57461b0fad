import type { Database } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/worker-states';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { ofKnownPool } from '../lists/named.ts';
import { QUEUED_MS } from './list-pools.ts';

/** Instants of the last hour, a minute apart; the last one is `at`. */
const INSTANTS = 61;

const STEP_MS = 60_000;

const counts = z.array(z.int().min(0).nullable()).length(INSTANTS);
const times = z.array(z.number().min(0).nullable()).length(INSTANTS);

const pool = z.object({
  pool: z.string(),
  waiting: counts.describe('Jobs that waited for a worker'),
  workers: counts.describe('Workers that lived'),
  busy: counts.describe('Those of them that had a job'),
  queuedP50Ms: times.describe(
    'How long GitHub had had the jobs queued that started in the minute before; null without any',
  ),
  queuedP95Ms: times,
});

export const lastHourEndpoint = endpoint({
  name: 'lastHour',
  method: 'GET',
  path: '/api/v1/pools/last-hour',
  summary: 'Tells how many jobs waited and how many workers lived in each minute of the last hour.',
  access: 'read',
  status: 200,
  input: z.object({ pool: z.string().max(300).optional().describe('Of this pool only') }),
  output: z.object({
    at: instant.describe(`The last of ${INSTANTS} instants`),
    stepMs: z.int().describe('From one instant to the next'),
    items: z
      .array(pool)
      .describe(
        'By name, those with jobs or workers in the hour. Null: too many rows are newer than that instant',
      ),
  }),
  async answer(caller, { pool: only }) {
    const { at, wholeSince, pools } = await readLastHour(caller.db);
    const asked = pools.filter(({ pool: name }) => only === undefined || name === only);
    await ofKnownPool(caller, only, Promise.resolve(asked));
    const first = firstWhole({ at, wholeSince });
    return {
      at,
      stepMs: STEP_MS,
      items: asked.map((one) => fromInstant(one, first)),
    };
  },
});

const firstWhole = ({ at, wholeSince }: Pick<LastHour, 'at' | 'wholeSince'>): number =>
  wholeSince === null
    ? 0
    : INSTANTS - 1 - Math.floor((at.getTime() - wholeSince.getTime()) / STEP_MS);

function fromInstant({ pool: name, ...lines }: PoolHour, first: number): PoolHour {
  const cut = <T>(line: readonly T[]) => line.map((value, n) => (n < first ? null : value));
  return {
    pool: name,
    waiting: cut(lines.waiting),
    workers: cut(lines.workers),
    busy: cut(lines.busy),
    queuedP50Ms: cut(lines.queuedP50Ms),
    queuedP95Ms: cut(lines.queuedP95Ms),
  };
}

/** A pool at each instant. */
type PoolHour = z.output<typeof pool>;

interface LastHour {
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
