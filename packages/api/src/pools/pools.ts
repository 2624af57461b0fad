import { allOf, has, isoText } from '@paddock/db/newest-first';
import { POOLS_IN_FORCE } from '@paddock/db/pools/pools-documents';
import { onlyRowOf, rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant, instantText } from '../lists/dates.ts';
import { pool as namedPool } from '../lists/named.ts';

const count = z.int();

/** Instants of the last hour, a minute apart. */
const INSTANTS = 61;

const counts = z.array(z.int().nullable()).length(INSTANTS);
const times = z.array(z.number().nullable()).length(INSTANTS);

const minutes = z.object({
  at: instant.describe(
    `The last of ${INSTANTS} instants, a minute apart. Values are null where too many rows are newer`,
  ),
  waiting: counts.describe('Jobs that waited for a worker'),
  workers: counts.describe('Workers that lived'),
  busy: counts.describe('Those of them that had a job'),
  queuedP50Ms: times.describe(
    'How long GitHub had had the jobs queued that started in the minute before; null without any',
  ),
  queuedP95Ms: times,
});

const poolRow = z.object({
  name: z.string(),
  inForce: z
    .boolean()
    .describe('The pools in force have it; else jobs or workers still name it, or `(none)`'),
  labels: z.array(z.string()),
  demand: z.object({
    waiting: count.describe('Jobs that wait for a worker'),
    oldestSince: instantText.nullable().describe('When the oldest of them was stored'),
    oldestJob: z.int().nullable().describe('Its id'),
  }),
  supply: z.object({
    starting: count.describe('Workers on their way'),
    idle: count,
    busy: count,
    stopping: count,
  }),
  cap: z
    .object({ used: count, limit: count })
    .nullable()
    .describe('The workers that live, and maxWorkers; null: the pool has no cap'),
  lastHour: z
    .object({
      started: count,
      queuedP50Ms: z.number().nullable(),
      queuedP95Ms: z.number().nullable(),
    })
    .describe(
      'Of the newest 10 000 jobs those that started, and how long GitHub had had them queued',
    ),
  minutes: minutes
    .nullish()
    .describe('The last hour, if it was asked for; null: it had neither job nor worker then'),
});

export const listPoolsEndpoint = endpoint({
  name: 'listPools',
  path: '/api/v1/pools',
  summary:
    'Lists all pools by name: demand, supply, caps and queue times, and if asked for each minute of the last hour.',
  input: z.object({
    pool: namedPool,
    minutes: z
      .enum(['true', 'false'])
      .default('false')
      .transform((given) => given === 'true')
      .describe('`true`: each with how many jobs waited and workers lived in the last hour'),
  }),
  output: z.object({ items: z.array(poolRow) }),
  async answer({ db }, { pool, minutes: isAsked }) {
    const items = await listPools(db, pool);
    if (!isAsked) return { items };
    const { at, pools } = await readLastHour(db);
    const hours = new Map(pools.map(({ pool: name, ...lines }) => [name, { at, ...lines }]));
    return {
      items: items.map((one) => Object.assign(one, { minutes: hours.get(one.name) ?? null })),
    };
  },
});

type Pool = z.output<typeof poolRow>;

const HOUR_AGO = sql`now() - interval '1 hour'`;

/** SQL: a job has started in the last hour. GitHub's clock may be a little ahead. */
const HAS_STARTED = sql`started_at between ${HOUR_AGO} and now() + interval '1 minute'`;

/**
 * All pools, by name: demand, supply and caps. One statement, so that the figures
 * agree. Waiting and live rows are few, and the hour's starts are looked for among the newest jobs.
 */
const listPools = (db: Db, name?: string) => rowsOf<Pool>(db)`
    with in_force as materialized (
      select p ->> 'name' as pool, p -> 'labels' as labels, (p ->> 'maxWorkers')::integer as "maxWorkers" from ${POOLS_IN_FORCE}
    ), demand as materialized (
      select k8s_pool as pool, count(*) as waiting, min(created_at) as "oldestWaitingAt",
        (array_agg(job_id order by created_at, job_id))[1] as "oldestJobId" from jobs where wants_worker group by 1
    ), supply as materialized (
      select k8s_pool as pool, count(*) as alive,
        count(*) filter (where status = 'pending' and assigned_at is null and stopping_at is null) as starting,
        count(*) filter (where status = 'running' and assigned_at is null and stopping_at is null) as idle,
        count(*) filter (where assigned_at is not null) as busy,
        count(*) filter (where stopping_at is not null and assigned_at is null) as stopping
      from workers where ${LIVE} group by 1
    ), recent as materialized (
      select k8s_pool as pool, count(*) as started, percentile_cont(array[0.5, 0.95]) within group (order by ${QUEUED_MS}) as ms
      from (select * from jobs order by created_at desc limit ${MOST_RECENT}) newest
      where ${HAS_STARTED} and queued_at is not null group by 1
    )
    select named.pool as name, labels is not null as "inForce", coalesce(labels, '[]') as labels,
      json_build_object('waiting', coalesce(waiting, 0), 'oldestSince', ${isoText('oldestWaitingAt')}, 'oldestJob', "oldestJobId") as demand,
      json_build_object('starting', coalesce(starting, 0), 'idle', coalesce(idle, 0), 'busy', coalesce(busy, 0), 'stopping', coalesce(stopping, 0)) as supply,
      case when "maxWorkers" is not null then json_build_object('used', coalesce(alive, 0), 'limit', "maxWorkers") end as cap,
      json_build_object('started', coalesce(started, 0), 'queuedP50Ms', ms[1], 'queuedP95Ms', ms[2]) as "lastHour"
    from (in_force full join demand using (pool) full join supply using (pool)) named left join recent using (pool)
    where ${allOf(has('named.pool', name))} order by named.pool`;

/** More would cost more than the figure is worth. */
const MOST_RECENT = 10_000;

/** SQL: how long a job was queued. A clock of GitHub's may be ahead of its own. */
const QUEUED_MS = sql`greatest(0, extract(epoch from started_at - queued_at) * 1000)::float8`;

interface LastHour {
  readonly at: Date;
  readonly pools: readonly (Omit<z.output<typeof minutes>, 'at'> & { readonly pool: string })[];
}

/** More would cost more than the picture is worth. */
const MOST_OF_HOUR = 5_000;

/** Of a job that waits no longer, wherever GitHub's instants lie. */
const WAITED_UNTIL = sql`greatest(created_at, least(now(), coalesce(started_at, completed_at, created_at)))`;

/** The first instant at or after this one. One that lies ahead comes after all, however far. */
const instantAfter = (at: unknown) =>
  sql`least(${INSTANTS}, greatest(0, ${INSTANTS - 1} - floor(date_part('epoch', now() - ${at}) / 60)))::integer`;

/** The newest rows are all that began after this; those that live are found besides. */
const oldestOf = (newest: string) =>
  sql`case when count(*) = ${MOST_OF_HOUR} then min(created_at) else 'epoch' end from ${sql.table(newest)}`;

/** By how much one of the lines rises or falls at an instant. */
const changeOf = (line: 'waiting' | 'workers' | 'busy') =>
  sql`sum(change) filter (where what = ${sql.lit(line)}) as ${sql.ref(line)}`;

/** A value at each instant; null where too many rows are newer. */
const line = (value: string) =>
  sql`jsonb_agg(case when is_whole then ${sql.raw(value)} end order by n)`;

/**
 * How the pools fared in the last hour. Nothing samples them: rows have the instants from which all
 * of it follows. A job waits from when it is stored until it starts, a worker lives from its
 * reservation to its end. Left out are jobs that began before the newest rows and ended since, and
 * such workers whose pods are gone: jobs and workers that live are always there.
 */
const readLastHour = (db: Db) => onlyRowOf<LastHour>(db)`
    with newest_job as materialized (
      select k8s_pool, created_at, queued_at, started_at, completed_at, wants_worker from jobs order by created_at desc limit ${MOST_OF_HOUR}
    ), newest_worker as materialized (
      select k8s_pool, created_at, assigned_at, completed_at from workers order by created_at desc limit ${MOST_OF_HOUR}
    ), bounds as materialized (
      select (select ${oldestOf('newest_job')}) as of_jobs, (select ${oldestOf('newest_worker')}) as of_workers
    ), job as materialized (
      select k8s_pool as pool, created_at, queued_at, started_at,
        case when not wants_worker then ${WAITED_UNTIL} end as waited_until
      from (
        select * from newest_job where created_at > (select of_jobs from bounds)
        union all select * from (
          select k8s_pool, created_at, queued_at, started_at, completed_at, wants_worker
          from jobs where wants_worker or status = 'running' offset 0
        ) live where created_at <= (select of_jobs from bounds)
      ) found where wants_worker or ${WAITED_UNTIL} > ${HOUR_AGO}
    ), worker as materialized (
      select k8s_pool as pool, created_at, assigned_at, completed_at from (
        select * from newest_worker where created_at > (select of_workers from bounds)
        union all select * from (
          select k8s_pool, created_at, assigned_at, completed_at from workers where ${LIVE}
          union all select k8s_pool, created_at, assigned_at, completed_at
          from workers where completed_at > ${HOUR_AGO} and pod_deleted_at is null offset 0
        ) seen where created_at <= (select of_workers from bounds)
      ) found where completed_at is null or completed_at > ${HOUR_AGO}
    ), span as (
      select pool, 'waiting' as what, created_at as began, waited_until as ended from job
      union all select pool, 'workers', created_at, completed_at from worker
      union all select pool, 'busy', least(assigned_at, completed_at), completed_at from worker where assigned_at is not null
    ), delta as (
      select pool, n, ${changeOf('waiting')}, ${changeOf('workers')}, ${changeOf('busy')} from (
        select pool, what, ${instantAfter(sql`began`)} as n, 1 as change from span
        union all select pool, what, ${instantAfter(sql`ended`)}, -1 from span where ended is not null
        -- Each pool has each instant.
        union all select pool, null, generate_series(0, ${INSTANTS - 1}), 0 from (select distinct pool from span) pool
      ) changes where n < ${INSTANTS} group by 1, 2
    ), queued as (
      select pool, ${instantAfter(sql`started_at`)} as n,
        percentile_cont(array[0.5, 0.95]) within group (order by ${QUEUED_MS}) as ms
      from job where ${HAS_STARTED} and queued_at is not null group by 1, 2
    ), sums as (
      select pool, n, n >= ${instantAfter(sql`greatest(of_jobs, of_workers)`)} as is_whole, ms, coalesce(sum(waiting) over w, 0) as waiting, coalesce(sum(workers) over w, 0) as workers,
        coalesce(sum(busy) over w, 0) as busy
      from delta left join queued using (pool, n) cross join bounds window w as (partition by pool order by n)
    )
    select now() as at, coalesce((
      select jsonb_agg(of_pool order by of_pool ->> 'pool') from (
        select jsonb_build_object('pool', pool, 'waiting', ${line('waiting')}, 'workers', ${line('workers')}, 'busy', ${line('busy')},
          'queuedP50Ms', ${line('round(ms[1]::numeric)')}, 'queuedP95Ms', ${line('round(ms[2]::numeric)')}) as of_pool
        from sums group by pool
      ) each
    ), '[]') as pools`;
