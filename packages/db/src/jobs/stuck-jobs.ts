import { type Kysely, sql } from 'kysely';
import { isUnanswered } from './note-look-ups.ts';
import type { Database, Status } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';
import { LIVE } from '../states/worker-states.ts';
import { hasLiveRunner, isUnended } from '../states/job-states.ts';

/** Why a job is in doubt. The first two are stuck; the others only need a look-up. */
export type DoubtReason = 'unserved' | 'worker_ended' | 'worker_idle' | 'held_back' | 'elsewhere';

export interface JobInDoubt {
  readonly jobId: number;
  readonly status: Status;
  readonly revision: number;
  readonly doubt: DoubtReason;
  /** It has used up its recoveries, GitHub has been silent for long, and it cannot run. */
  readonly isLost: boolean;
}

export interface DoubtRules {
  /**
   * How long a job may wait without a reason, or run without its worker, before it is stuck, in
   * milliseconds.
   */
  readonly stuckAfterMs: number;
  /** The first look-up of a job that is held back, and the longest time between two. */
  readonly firstLookMs: number;
  readonly longestLookMs: number;
  /** After this many recoveries a job may fail. */
  readonly limit: number;
  /**
   * How long GitHub must have been silent about it by then, counted from the first unanswered
   * question.
   */
  readonly silenceMs: number;
  /** How long GitHub keeps a job in its queue. */
  readonly queuedAtMostMs: number;
  readonly batch: number;
}

/**
 * Jobs in doubt, entities in turn, each with its oldest first: waiting jobs whose key is not held back and has no live worker;
 * jobs whose worker or its runner has ended; waiting jobs with an idle worker; and at times held
 * back jobs and those that run elsewhere, because their end may be lost. A held back job's next
 * look-up is as far away as the job was old at the last one.
 */
export async function findJobsInDoubt(
  db: Kysely<Database>,
  rules: DoubtRules,
): Promise<JobInDoubt[]> {
  const { stuckAfterMs, firstLookMs, longestLookMs, limit, silenceMs, queuedAtMostMs, batch } =
    rules;
  const wasRecoveredLately = sql`coalesce(j.recovered_at > now() - ${milliseconds(stuckAfterMs)}, false)`;
  const isLookDue = sql`(j.lookup_due_at is null and j.created_at < now() - ${milliseconds(firstLookMs)} and (j.looked_up_at is null
    or j.looked_up_at + least(greatest(j.looked_up_at - j.created_at, ${milliseconds(firstLookMs)}), ${milliseconds(longestLookMs)}) < now()))`;
  const { rows } = await sql<JobInDoubt>`
    with keys as (
      -- Fully joined, as deficits are: with statistics of a quieter hour a left join would count
      -- all workers anew for each key.
      select demand_key, coalesce(w.waiting, 0) as waiting, coalesce(s.alive, 0) > 0 as served, coalesce(s.idle, 0) as idle,
        k.wait_reason is not null as held
      from (select demand_key, count(*) as waiting from jobs where wants_worker group by demand_key) w
      full join (
        select demand_key, count(*) as alive, count(*) filter (where status = 'running' and assigned_at is null
          and stopping_at is null and registered_at < now() - ${milliseconds(stuckAfterMs)}) as idle
        from workers where ${LIVE} group by demand_key
      ) s using (demand_key)
      full join demand_keys k using (demand_key)
    ), left_jobs as materialized (
      -- Few: only for these the statement reads ended workers.
      select job_id, k8s_pod from jobs j
      where status = 'running' and not wants_worker and not ${wasRecoveredLately}
        and k8s_pod not in (select pod_name from workers where ${LIVE} and runner_ended_at is null)
    ), doubtful as (
      (select j.job_id, 'unserved' as doubt, 1 as rank from keys cross join lateral (
          select job_id from jobs j where demand_key = keys.demand_key and wants_worker
            and created_at < now() - ${milliseconds(stuckAfterMs)} and not ${wasRecoveredLately} order by created_at, job_id limit ${batch}
        ) j
        where waiting > 0 and not held and not served)
      union all
      (select j.job_id, 'worker_ended', 2 from left_jobs j
        cross join lateral (select coalesce(completed_at, runner_ended_at) as ended_at from workers where pod_name = j.k8s_pod offset 0) w
        where w.ended_at < now() - ${milliseconds(stuckAfterMs)})
      union all
      (select j.job_id, 'worker_idle', 3 from keys cross join lateral (
          select * from jobs where demand_key = keys.demand_key and wants_worker order by created_at, job_id limit idle
        ) j
        where waiting > 0 and j.lookup_due_at is null and j.created_at < now() - ${milliseconds(stuckAfterMs)}
          and (j.looked_up_at is null or j.looked_up_at < now() - ${milliseconds(stuckAfterMs)}))
      union all
      (select j.job_id, 'held_back', 4 from keys cross join lateral (
          select job_id from jobs j where demand_key = keys.demand_key and wants_worker and ${isLookDue} order by created_at, job_id limit ${batch}
        ) j
        where waiting > 0 and (held or served))
      union all
      (select j.job_id, 'elsewhere', 5 from jobs j
        where j.status = 'running' and not j.wants_worker and j.k8s_pod is null and ${isLookDue})
    ), chosen as (
      select distinct on (job_id) job_id, doubt from doubtful order by job_id, rank
    )
    select j.job_id as "jobId", j.status, j.revision, c.doubt,
      c.doubt in ('unserved', 'worker_ended') and ${isUnended('j')} and j.recovery_attempts >= ${limit}
        and ${isUnanswered} and j.unanswered_since < now() - ${milliseconds(silenceMs)}
        and (c.doubt = 'worker_ended' or coalesce(j.queued_at, j.created_at) < now() - ${milliseconds(queuedAtMostMs)}) as "isLost"
    from chosen c join jobs j using (job_id)
    -- Entities take turns, each with its oldest.
    order by row_number() over (partition by j.entity_id order by j.created_at, j.job_id), j.created_at, j.job_id limit ${batch}`.execute(
    db,
  );
  return rows;
}

/**
 * Makes the jobs due for a look-up and wakes the matcher; counts the recovery of stuck ones.
 * Returns their ids.
 */
export async function recoverJobs(
  db: Kysely<Database>,
  jobs: readonly JobInDoubt[],
): Promise<number[]> {
  if (jobs.length === 0) return [];
  const { rows } = await sql<{ jobId: number }>`
    with ${lockedAsRead(jobs)}, recovered as (
      update jobs j set lookup_due_at = least(j.lookup_due_at, now()),
        recovery_attempts = j.recovery_attempts + l."isStuck"::integer,
        recovered_at = case when l."isStuck" then now() else j.recovered_at end
      from locked l where j.job_id = l."jobId" and j.status = l.status returning j.job_id
    )
    select job_id as "jobId", pg_notify(current_schema() || '_queue_event', 'jobs') from recovered`.execute(
    db,
  );
  return rows.map(({ jobId }) => jobId);
}

/**
 * Fails lost jobs. A look-up follows: if GitHub knows better, the job counts as misjudged. Returns
 * their ids.
 */
export async function failLostJobs(
  db: Kysely<Database>,
  jobs: readonly JobInDoubt[],
  message: string,
): Promise<number[]> {
  if (jobs.length === 0) return [];
  const { rows } = await sql<{ jobId: number }>`
    with ${lockedAsRead(jobs)}
    update jobs j set status = 'failed', wants_worker = false, lookup_due_at = least(j.lookup_due_at, now()),
      failure_info = jsonb_build_object('version', 1, 'message', ${message}::text)
    from locked l
    where j.job_id = l."jobId" and j.status = l.status and ${isUnended('j')}
    returning j.job_id as "jobId"`.execute(db);
  return rows.map(({ jobId }) => jobId);
}

/** The rows that are still as they were read, locked in the order that all take. */
const lockedAsRead = (jobs: readonly JobInDoubt[]) => sql`
  given as (
    select * from jsonb_to_recordset(${JSON.stringify(
      jobs.map(({ jobId, status, revision, doubt }) => ({
        jobId,
        status,
        revision,
        isStuck: isStuck(doubt),
      })),
    )}::jsonb) as given("jobId" bigint, status status_enum, revision integer, "isStuck" boolean)
  ), locked as (
    select given.* from given join jobs j on j.job_id = given."jobId"
    where j.revision = given.revision order by j.job_id for no key update of j
  )`;

const isStuck = (doubt: DoubtReason): boolean => doubt === 'unserved' || doubt === 'worker_ended';

/**
 * How many jobs stay stuck after `limit` recoveries, and how many of the last day were failed here
 * and completed by GitHub.
 */
export async function countStuckJobs(
  db: Kysely<Database>,
  limit: number,
): Promise<{ stuck: number; misjudged: number }> {
  const { rows } = await sql<{ stuck: number; misjudged: number }>`
    select (select count(*) from jobs j
        where recovery_attempts >= ${limit} and recovery_attempts > 0 and ${isUnended('j')}
          and not ${hasLiveRunner}) as stuck,
      (select count(*) from jobs where misjudged and updated_at > now() - interval '1 day') as misjudged`.execute(
    db,
  );
  return rows[0] ?? { stuck: 0, misjudged: 0 };
}
