import { type RawBuilder, sql } from 'kysely';
import { onlyRowOf, rowsOf } from '../rows.ts';
import { installationToday } from '../entities/whom-to-ask.ts';
import { isUnanswered } from './look-ups.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';
import { hasLiveRunner, isUnended, LIVE } from '../states/states.ts';
import { ANSWER_AGE_LIMIT } from '../workers/worker-stops.ts';

/** Why a job is in doubt. The first two are stuck; the others only need a look-up. */
export type DoubtReason =
  | 'unserved'
  | 'worker_ended'
  | 'worker_idle'
  | 'held_back'
  | 'elsewhere'
  | 'unexplained_end';

export interface JobInDoubt {
  readonly jobId: number;
  readonly doubt: DoubtReason;
  /** Its recovery was counted. */
  readonly isRecovered: boolean;
  /** It failed: it had used up its recoveries, GitHub was silent for long, and it cannot run. */
  readonly isLost: boolean;
}

export interface DoubtRules {
  /** How long a job waits for no reason, or runs without its worker, until it is stuck. */
  readonly stuckAfterMs: number;
  /** The first look-up of a job that is held back, and the longest time between two. */
  readonly heldLookUpFirstMs: number;
  readonly heldLookUpLongestMs: number;
  /** After this many recoveries a job may fail. */
  readonly recoveryLimit: number;
  /** How long GitHub must have been silent by then, since the first unanswered question. */
  readonly silenceMs: number;
  /** How long GitHub keeps a job in its queue. */
  readonly queuedAtMostMs: number;
  /** The most jobs per key with an unexplained end, the oldest first. */
  readonly lookUpsPerKey: number;
  readonly lookUpsOfPass: number;
}

/**
 * An unexplained end of a worker, or its stop without a job, and the waiting jobs of its key that
 * it may have run or that have ended. A look-up's answer counts if it is younger than the row's
 * last change. That is PostgreSQL's time; the end is the node's. A stopping worker's row keeps
 * changing.
 */
const unexplainedEnds = sql`
  unexplained_until is not null and unexplained_until > now() and assigned_at is null`;
const toldAt = sql`case when stopping_at is null then updated_at else stopping_at - ${ANSWER_AGE_LIMIT} end`;
/**
 * Only jobs from before: a job that came after the stop was requested could not go to the worker.
 */
const cameUntil = sql`coalesce(stopping_at, 'infinity')`;
/** What a batch is chosen by: PostgreSQL need not read the rows of all doubts again. */
const PLACE = sql.raw('j.job_id, j.entity_id, j.created_at');
const isUnsettled = sql`(looked_up_at is null or looked_up_at < ends.told_at)`;

/**
 * Makes jobs in doubt due for a look-up and wakes the matcher; entities in turn, each with its
 * oldest first. In doubt are: waiting jobs whose key is not held back and has no live worker; jobs
 * whose worker or its runner has ended; waiting jobs with an idle worker; those that a worker with
 * an unexplained end may have run; those that run, and GitHub has not said on which runner; and at
 * times held back jobs and those that run elsewhere, because their end may be lost. The next look-up
 * of these is as far away as the job was old at the last one.
 *
 * It moves no status backwards: GitHub's answer settles a doubt. It counts the recovery of a stuck
 * job. One fails here only after GitHub has not answered for so long that it can no longer run; its
 * look-up follows, and if GitHub knows better, the job counts as misjudged. A row that changes
 * meanwhile stays as it is.
 */
export async function markJobsInDoubt(db: Db, rules: DoubtRules): Promise<JobInDoubt[]> {
  const { stuckAfterMs, silenceMs, queuedAtMostMs, recoveryLimit: limit } = rules;
  const { heldLookUpFirstMs: firstLookMs, heldLookUpLongestMs: longestLookMs } = rules;
  const { lookUpsPerKey: perKey, lookUpsOfPass: batch } = rules;
  const whyLost = `the job was stuck, ${limit} recoveries did not help, and GitHub has not answered for it for ${Math.round(silenceMs / 60_000)} minutes`;
  const wasRecoveredLately = sql`coalesce(j.recovered_at > now() - ${milliseconds(stuckAfterMs)}, false)`;
  const mayLook = (since: RawBuilder<unknown>, firstMs: number) => sql`(j.looked_up_at is null
    or j.looked_up_at + least(greatest(j.looked_up_at - ${since}, ${milliseconds(firstMs)}), ${milliseconds(longestLookMs)}) < now())`;
  const isLookDue = sql`(j.lookup_due_at is null and j.created_at < now() - ${milliseconds(firstLookMs)}
    and ${mayLook(sql`j.created_at`, firstLookMs)})`;
  const isRunnerDue = sql`(j.lookup_due_at is null and j.runner_name is null
    and ${mayLook(sql`coalesce(j.started_at, j.created_at)`, 0)})`;
  return rowsOf<JobInDoubt>(db)`
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
      select * from jobs j
      where status = 'running' and not wants_worker and not ${wasRecoveredLately}
        and k8s_pod not in (select pod_name from workers where ${LIVE} and runner_ended_at is null)
    ), doubtful as (
      (select ${PLACE}, 'unserved' as doubt, 1 as rank from keys cross join lateral (
          select * from jobs j where demand_key = keys.demand_key and wants_worker
            and created_at < now() - ${milliseconds(stuckAfterMs)} and not ${wasRecoveredLately} order by created_at, job_id limit ${batch}
        ) j
        where waiting > 0 and not held and not served)
      union all
      (select ${PLACE}, 'worker_ended', 2 from left_jobs j
        cross join lateral (select coalesce(completed_at, runner_ended_at) as ended_at from workers where pod_name = j.k8s_pod offset 0) w
        where w.ended_at < now() - ${milliseconds(stuckAfterMs)})
      union all
      (select ${PLACE}, 'worker_idle', 3 from keys cross join lateral (
          select * from jobs where demand_key = keys.demand_key and wants_worker order by created_at, job_id limit idle
        ) j
        where waiting > 0 and j.lookup_due_at is null and j.created_at < now() - ${milliseconds(stuckAfterMs)}
          and (j.looked_up_at is null or j.looked_up_at < now() - ${milliseconds(stuckAfterMs)}))
      union all
      (select ${PLACE}, 'held_back', 4 from keys cross join lateral (
          select * from jobs j where demand_key = keys.demand_key and wants_worker and ${isLookDue} order by created_at, job_id limit ${batch}
        ) j
        where waiting > 0 and (held or served))
      union all
      (select ${PLACE}, 'elsewhere', 5 from jobs j
        where j.status = 'running' and not j.wants_worker and j.k8s_pod is null and (${isLookDue} or ${isRunnerDue}))
      union all
      (select ${PLACE}, 'unexplained_end', 6
        from (select demand_key, max(${toldAt}) as told_at, max(${cameUntil}) as came_until from workers
          where ${unexplainedEnds} group by demand_key) ends
        cross join lateral (
          select * from jobs where demand_key = ends.demand_key and wants_worker and created_at <= ends.came_until
          order by created_at, job_id limit ${perKey}
        ) j
        where ${isUnsettled} and lookup_due_at is null)
    ), chosen as (
      -- Entities take turns, each with its oldest.
      select job_id, doubt from (select distinct on (job_id) * from doubtful order by job_id, rank) one
      order by row_number() over (partition by entity_id order by created_at, job_id), created_at, job_id limit ${batch}
    ), judged as (
      select job_id, j.revision, doubt, doubt in ('unserved', 'worker_ended') as is_stuck,
        doubt in ('unserved', 'worker_ended') and ${isUnended('j')} and j.recovery_attempts >= ${limit}
          and ${isUnanswered} and j.unanswered_since < now() - ${milliseconds(silenceMs)}
          and (doubt = 'worker_ended' or coalesce(j.queued_at, j.created_at) < now() - ${milliseconds(queuedAtMostMs)}) as is_lost
      from chosen join jobs j using (job_id)
    ), locked as (
      select judged.*, is_stuck and not is_lost as is_recovered from judged join jobs j using (job_id)
      where j.revision = judged.revision order by job_id for no key update of j
    ), marked as (
      update jobs j set lookup_due_at = least(j.lookup_due_at, now()),
        recovery_attempts = j.recovery_attempts + is_recovered::integer,
        recovered_at = case when is_recovered then now() else j.recovered_at end,
        status = case when is_lost then 'failed' else j.status end,
        wants_worker = j.wants_worker and not is_lost,
        failure_info = case when is_lost then jsonb_build_object('version', 1, 'message', ${whyLost}::text) else j.failure_info end
      from locked where j.job_id = locked.job_id
      returning j.job_id as "jobId", doubt, is_recovered as "isRecovered", is_lost as "isLost"
    )
    select marked.* from marked cross join (select pg_notify(current_schema() || '_queue_event', 'jobs')) told`;
}

/** GitHub ends a job on a self-hosted runner after this time. */
const RUNS_AT_MOST_DAYS = 5;

/**
 * Fails jobs that no App may ask about, long after their look-up was due: those that GitHub itself
 * has ended by now (queued or running for too long), or that lost their worker. Returns their ids.
 */
export async function failUnaskableJobs(
  db: Db,
  { silenceMs, queuedAtMostMs, lookUpsOfPass }: DoubtRules,
  appIds: readonly number[],
): Promise<number[]> {
  const why = `for ${Math.round(silenceMs / 60_000)} minutes no App could ask GitHub about the job, which can no longer run`;
  const rows = await rowsOf<{ jobId: number }>(db)`
    with lost as (
      select job_id from jobs j ${installationToday('j', appIds)}
      where lookup_due_at < now() - ${milliseconds(silenceMs)} and ${isUnended('j')} and i.app_id is null and not ${hasLiveRunner}
        and case when status = 'pending' or wants_worker then coalesce(queued_at, created_at) < now() - ${milliseconds(queuedAtMostMs)}
          else k8s_pod is not null or coalesce(started_at, created_at) < now() - ${RUNS_AT_MOST_DAYS}::integer * interval '1 day' end
      order by job_id limit ${lookUpsOfPass} for no key update of j
    )
    update jobs j set status = 'failed', wants_worker = false, lookup_due_at = null,
      failure_info = jsonb_build_object('version', 1, 'message', ${why}::text)
    from lost where j.job_id = lost.job_id returning j.job_id as "jobId"`;
  return rows.map(({ jobId }) => jobId);
}

/** A worker that ran none of the waiting jobs, according to GitHub. */
export interface JoblessEnd {
  readonly podName: string;
  readonly pool: string;
  /** We stopped it, or are stopping it; the others ended well by themselves. */
  readonly isStopped: boolean;
}

/**
 * Ends the grace of unexplained ends when GitHub has said that they ran none of their key's oldest
 * waiting jobs. These are still queued and need other workers. A stopped worker's grace also ends
 * when none of those jobs waits. GitHub must say twice that it does not know a job.
 *
 * Takes workers of one key only: its transaction then counts their failures, and locks no two keys.
 * Returns them and wakes the matcher; none: no more are left, or they have changed.
 */
export const endJoblessGraces = (trx: Trx, perKey: number) => rowsOf<JoblessEnd>(trx)`
    with answered as (
      select ends.pod_name, ends.demand_key
      from (
        select pod_name, demand_key, ${toldAt} as told_at, ${cameUntil} as came_until, stopping_at is not null as is_stopped
        from workers where ${unexplainedEnds}
      ) ends
      where (is_stopped or exists (select from jobs where demand_key = ends.demand_key and wants_worker))
        and not exists (
          select from (
            select looked_up_at, seen_gone_at from jobs
            where demand_key = ends.demand_key and wants_worker and created_at <= ends.came_until order by created_at, job_id limit ${perKey}
          ) oldest where ${isUnsettled} or seen_gone_at is not null)
    ), key as materialized (
      select min(demand_key) as demand_key from answered
    ), locked as (
      select pod_name from workers
      where pod_name in (select pod_name from answered join key using (demand_key)) and ${unexplainedEnds} order by pod_name for update
    ), ended as (
      update workers w set unexplained_until = null from locked where w.pod_name = locked.pod_name and w.assigned_at is null
      returning w.pod_name, w.k8s_pool, w.stopping_at is not null as is_stopped
    )
    select pod_name as "podName", k8s_pool as pool, is_stopped as "isStopped"
    from ended cross join (select pg_notify(current_schema() || '_queue_event', 'workers')) told`;

/** How many jobs stay stuck after `limit` recoveries, and how many of a day were misjudged. */
export const countStuckJobs = (db: Db, limit: number) =>
  onlyRowOf<{ stuck: number; misjudged: number }>(db)`
    select (select count(*) from jobs j
        where recovery_attempts >= ${limit} and recovery_attempts > 0 and ${isUnended('j')}
          and not ${hasLiveRunner}) as stuck,
      (select count(*) from jobs where misjudged and updated_at > now() - interval '1 day') as misjudged`;
