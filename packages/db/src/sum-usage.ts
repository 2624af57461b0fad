import { sql } from 'kysely';
import { rowsOf } from './rows.ts';
import type { Db, Trx } from './schema/tables.ts';
import { hasEnded, isLive, isUnended } from './states/states.ts';

/** A year can be compared with the one before. */
const KEEP_MONTHS = 13;

export interface HoursToSum {
  readonly hours: readonly Date[];
  /** There may be further hours that were never summed up. */
  readonly isMore: boolean;
}

/**
 * The hours with jobs or workers whose sums may be wrong. First those from the newest sum on, the
 * oldest first: no hour is passed over. An hour more, since a row may be committed some minutes
 * after its own instant. Then those in which something had not ended, the least recently summed up
 * first. Hours older than `keptDays` stay as they are: their jobs may have been deleted.
 */
export async function findHoursToSum(
  db: Db,
  { keptDays, most }: { keptDays: number; most: number },
): Promise<HoursToSum> {
  const rows = await rowsOf<{ hour: Date; isOpen: boolean }>(db)`
    with bounds as (
      select kept, greatest(kept, (select max(hour) from usage_hours where hour <= now()) - interval '1 hour') as next
      from (select date_trunc('hour', now(), 'UTC') - ${keptDays} * interval '1 day' + interval '1 hour' as kept) one
    )
    select hour, is_open as "isOpen" from (
      select date_trunc('hour', created_at, 'UTC') as hour, false as is_open, null::timestamptz as summed_at
      from jobs where created_at >= (select next from bounds) group by 1
      union
      select date_trunc('hour', created_at, 'UTC'), false, null from workers where created_at >= (select next from bounds) group by 1
      union
      select hour, true, min(summed_at) from usage_hours
      where unended > 0 and hour >= (select kept from bounds) and hour < (select next from bounds) group by hour
    ) due order by is_open, coalesce(summed_at, hour) limit ${most}`;
  return {
    hours: rows.map(({ hour }) => hour),
    isMore: rows.length === most && rows.every(({ isOpen }) => !isOpen),
  };
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

/** An integer holds it: GitHub's instants may be any. */
const WAITED = sql`least(extract(epoch from j.started_at - j.queued_at), 1000000000)`;
/** Two digits are enough for a quantile. */
const QUEUED_SECONDS = sql`
  round(greatest(${WAITED}, 0), least(0, 1 - floor(log(greatest(${WAITED}, 1)))::integer))`;

/** The worker that a job ran on to its end. Any other has no job here. */
const RAN_ON = sql`w.pod_name = j.k8s_pod and w.assigned_job_id = j.job_id`;

/**
 * Sums up one hour anew, and counts what has not ended in it. In turn: a killed process may leave a
 * statement that goes on beside its successor's, and neither would delete the other's sums.
 */
export async function sumUsage(trx: Trx, hour: Date): Promise<void> {
  await sql`lock table usage_hours in share row exclusive mode`.execute(trx);
  await sql`
    with used as (
      select j.entity_id, j.repo_id, j.repo_full_name, coalesce(j.workflow_name, '') as workflow_name, j.k8s_pool,
        ${QUEUED_SECONDS}::integer as queued_seconds, 1 as jobs, (w.pod_name is not null)::integer as workers,
        ${POD_MS} as pod_ms, ${JOB_MS} as job_ms, coalesce(w.status = 'failed', false) as failed, 0 as unended
      from jobs j left join workers w on ${RAN_ON} and w.completed_at is not null
      where ${inHour(hour, 'j')} and ${sql.raw(hasEnded('j'))}
      union all
      select w.entity_id, 0, null, '', w.k8s_pool, null, 0, 1, ${POD_MS}, 0, w.status = 'failed', 0
      from workers w
      where ${inHour(hour, 'w')} and w.completed_at is not null
        and not exists (select from jobs j where j.job_id = w.assigned_job_id and ${RAN_ON})
      union all
      select j.entity_id, j.repo_id, j.repo_full_name, coalesce(j.workflow_name, ''), j.k8s_pool, null, 0, 0, 0, 0, false, 1
      from jobs j left join workers w on ${RAN_ON}
      where ${inHour(hour, 'j')} and (${isUnended('j')} or ${isLive('w')})
      union all
      select w.entity_id, 0, null, '', w.k8s_pool, null, 0, 0, 0, 0, false, 1
      from workers w where ${inHour(hour, 'w')} and ${isLive('w')}
    ), former as (
      delete from usage_hours where hour = ${hour}
    )
    insert into usage_hours (hour, entity_id, repo_id, repo_full_name, workflow_name, k8s_pool, queued, jobs, workers, pod_ms, idle_ms, thrown_away_ms, unended)
    select ${hour}::timestamptz, entity_id, repo_id, max(repo_full_name), workflow_name, k8s_pool,
      array_agg(queued_seconds order by queued_seconds) filter (where queued_seconds is not null), sum(jobs), sum(workers), sum(pod_ms),
      sum(case when failed then 0 else pod_ms - least(job_ms, pod_ms) end), sum(case when failed then pod_ms else 0 end), sum(unended)
    from used group by entity_id, repo_id, workflow_name, k8s_pool`.execute(trx);
}

/** Removes sums older than KEEP_MONTHS, and of hours to come (wrong clock). Returns how many. */
export async function retireUsage(db: Db): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('usage_hours')
    .where(
      sql<boolean>`(hour < now() - make_interval(months => ${KEEP_MONTHS}::integer) or hour > now())`,
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
