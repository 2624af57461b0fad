import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { hasEnded, isUnended } from '../states/job-states.ts';
import { isLive } from '../states/worker-states.ts';

/** A year can be compared with the one before. */
const KEEP_MONTHS = 13;

/**
 * The hours whose sums may be wrong, the newest first: those that were never summed up, those that
 * had not passed, and those in which something had not ended. Older ones than `keptDays` stay as
 * they are, because their jobs may have been deleted. A row may be committed some minutes after its
 * own instant.
 */
export async function findHoursToSum(
  db: Kysely<Database>,
  { keptDays, most }: { keptDays: number; most: number },
): Promise<Date[]> {
  const { rows } = await sql<{ hour: Date }>`
    with bounds as (
      select date_trunc('hour', greatest(
        now() - ${keptDays} * interval '1 day' + interval '1 hour',
        coalesce(least((select min(created_at) from jobs), (select min(created_at) from workers)), now()))) as first
    )
    select hour from (
      select generate_series(first, date_trunc('hour', now()), interval '1 hour') as hour from bounds
      except
      select hour from usage_summed
      where hour >= (select first from bounds) and unended = 0 and summed_at >= hour + interval '1 hour 10 minutes'
    ) due order by hour desc limit ${most}`.execute(db);
  return rows.map(({ hour }) => hour);
}

const inHour = (hour: Date, row: string) =>
  sql`${sql.raw(row)}.created_at >= ${hour} and ${sql.raw(row)}.created_at < ${hour}::timestamptz + interval '1 hour'`;

/** In milliseconds, of two instants: 0 if the second came first. */
const msBetween = (from: string, to: string) =>
  sql.raw(`coalesce(round(extract(epoch from greatest(${to} - ${from}, interval '0')) * 1000), 0)`);

const POD_MS = msBetween('w.running_at', 'w.completed_at');
const JOB_MS = msBetween(
  'greatest(j.started_at, w.running_at)',
  'least(j.completed_at, w.completed_at)',
);

/** Two digits are enough for a quantile. */
const QUEUED_SECONDS = sql`
  round(greatest(extract(epoch from j.started_at - j.queued_at), 0),
    least(0, 1 - floor(log(greatest(extract(epoch from j.started_at - j.queued_at), 1)))::integer))`;

/** The worker that a job ran on to its end. Any other has no job here. */
const RAN_ON = sql`w.pod_name = j.k8s_pod and w.assigned_job_id = j.job_id`;

/** Sums up one hour anew. Returns how many jobs and workers in it have not ended. */
export async function sumUsage(db: Kysely<Database>, hour: Date): Promise<number> {
  const { rows } = await sql<{ unended: number }>`
    with used as (
      select j.entity_id, j.repo_id, j.repo_full_name, coalesce(j.workflow_name, '') as workflow_name, j.k8s_pool,
        ${QUEUED_SECONDS}::integer as queued_seconds, 1 as jobs, (w.pod_name is not null)::integer as workers,
        ${POD_MS} as pod_ms, ${JOB_MS} as job_ms, coalesce(w.status = 'failed', false) as failed
      from jobs j left join workers w on ${RAN_ON} and w.completed_at is not null
      where ${inHour(hour, 'j')} and ${sql.raw(hasEnded('j'))}
      union all
      select w.entity_id, 0, null, '', w.k8s_pool, null, 0, 1, ${POD_MS}, 0, w.status = 'failed'
      from workers w
      where ${inHour(hour, 'w')} and w.completed_at is not null
        and not exists (select from jobs j where j.job_id = w.assigned_job_id and ${RAN_ON})
    ), former as (
      delete from usage_hours where hour = ${hour}
    ), summed as (
      insert into usage_hours (hour, entity_id, repo_id, repo_full_name, workflow_name, k8s_pool, queued, jobs, workers, pod_ms, idle_ms, thrown_away_ms)
      select ${hour}::timestamptz, entity_id, repo_id, max(repo_full_name), workflow_name, k8s_pool,
        array_agg(queued_seconds order by queued_seconds) filter (where queued_seconds is not null), sum(jobs), sum(workers), sum(pod_ms),
        sum(case when failed then 0 else pod_ms - least(job_ms, pod_ms) end), sum(case when failed then pod_ms else 0 end)
      from used group by entity_id, repo_id, workflow_name, k8s_pool
    )
    insert into usage_summed as s (hour, unended)
    select ${hour}::timestamptz,
      (select count(*) from jobs j left join workers w on ${RAN_ON} where ${inHour(hour, 'j')} and (${isUnended('j')} or ${isLive('w')}))
      + (select count(*) from workers w where ${inHour(hour, 'w')} and ${isLive('w')})
    on conflict (hour) do update set unended = excluded.unended, summed_at = excluded.summed_at
    returning unended`.execute(db);
  return rows[0]?.unended ?? 0;
}

/** Removes the sums that are older than KEEP_MONTHS. Returns how many rows. */
export async function retireUsage(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    with summed as (
      delete from usage_summed where hour < now() - make_interval(months => ${KEEP_MONTHS}::integer) returning hour
    ), gone as (
      delete from usage_hours where hour < now() - make_interval(months => ${KEEP_MONTHS}::integer) returning 1 as one
    )
    select count(*) as removed from gone`.execute(db);
  return rows[0]?.removed ?? 0;
}
