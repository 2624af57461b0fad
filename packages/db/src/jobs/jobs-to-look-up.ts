import { type Kysely, sql, type Transaction } from 'kysely';
import { installationToday, loginToday } from '../entities/installation-today.ts';
import { isLeftAlone } from '../breakers/refusals.ts';
import { hasLiveRunner } from './job-states.ts';
import type { Database, EntityType, Status } from '../schema/tables.ts';
import { WORD_OF_GITHUB } from '../workers/request-stops.ts';
import { milliseconds } from '../milliseconds.ts';

/** A job about which GitHub is to be asked, with what is known of its entity now. */
export interface JobToLookUp {
  readonly jobId: number;
  readonly runId: number;
  readonly runAttempt: number;
  readonly repoId: number;
  /** As a delivery last told it; the repository may have another name by now. */
  readonly repoFullName: string;
  readonly entityId: number;
  readonly entityType: EntityType;
  /** Today's. */
  readonly login: string;
  readonly installationId: number;
  readonly appId: number;
  readonly status: Status;
  readonly revision: number;
  readonly wantsWorker: boolean;
  /** The worker that is bound to it is alive, and its runner has not ended. */
  readonly hasWorker: boolean;
  /**
   * GitHub called it queued when it was asked before, long enough ago; the same for not knowing it.
   */
  readonly wasQueued: boolean;
  /** GitHub has answered for it before; what it is called may be a delivery's word. */
  readonly wasLookedUp: boolean;
  readonly wasGone: boolean;
  /** Its time has come; otherwise an unexplained end is the reason. */
  readonly isDue: boolean;
}

export interface LookUpQuery {
  /** At most so many jobs whose time has come, those due longest first. */
  readonly batch: number;
  /** So many of the oldest waiting jobs of a key with an unexplained end. */
  readonly perKey: number;
  /**
   * A second answer counts as one only if it comes so much later than the first, in milliseconds.
   */
  readonly secondLookMs: number;
  /** The Apps that are configured here. */
  readonly appIds: readonly number[];
}

/**
 * A worker's unexplained end, or its stop without a job; and those waiting jobs of its key that it
 * may have run, or that wait no more. An answer counts if it is younger than the row's last change:
 * that is PostgreSQL's own time, while the end is the node's. The row of a worker that is being
 * stopped goes on changing.
 */
const unexplainedEnds = sql`
  unexplained_until is not null and unexplained_until > now() and assigned_at is null`;
const toldAt = sql`case when stopping_at is null then updated_at else stopping_at - ${WORD_OF_GITHUB} end`;
/**
 * Only jobs from before that come into question: one that came after a worker's stop was asked for
 * is none that the worker could have had.
 */
const cameUntil = sql`coalesce(stopping_at, 'infinity')`;
/** GitHub can be asked about job `j` through `i`. */
const mayAsk = sql`i.app_id is not null and not ${isLeftAlone({ appId: 'i.app_id', entityId: 'j.entity_id', repoId: 'j.repo_id' })}`;
const isUnanswered = sql`(looked_up_at is null or looked_up_at < ends.told_at)`;

/**
 * The jobs that GitHub is to be asked about now: those that are due, and the oldest that an
 * unexplained end may have run.
 */
export async function findJobsToLookUp(db: Kysely<Database>, { batch, perKey, secondLookMs, appIds }: LookUpQuery): Promise<JobToLookUp[]> {
  const { rows } = await sql<JobToLookUp>`
    with due as (
      -- Left out here and not below: those about which nobody can be asked would fill the batch.
      select j.job_id from jobs j ${installationToday('j', appIds)}
      where j.lookup_due_at <= now() and ${mayAsk} order by j.lookup_due_at, j.job_id limit ${batch}
    ), doubted as (
      select oldest.job_id
      from (select demand_key, max(${toldAt}) as told_at, max(${cameUntil}) as came_until from workers
        where ${unexplainedEnds} group by demand_key) ends
      cross join lateral (
        select job_id, looked_up_at from jobs where demand_key = ends.demand_key and wants_worker and created_at <= ends.came_until
        order by created_at, job_id limit ${perKey}
      ) oldest
      where ${isUnanswered}
    )
    select j.job_id as "jobId", j.run_id as "runId", j.run_attempt as "runAttempt", j.repo_id as "repoId", j.repo_full_name as "repoFullName",
      j.entity_id as "entityId", j.entity_type as "entityType", ${loginToday('j')} as login,
      i.installation_id as "installationId", i.app_id as "appId",
      j.status, j.revision, j.wants_worker as "wantsWorker",
      ${hasLiveRunner} as "hasWorker",
      coalesce(j.seen_queued_at <= now() - ${milliseconds(secondLookMs)}, false) as "wasQueued",
      j.looked_up_at is not null as "wasLookedUp",
      coalesce(j.seen_gone_at <= now() - ${milliseconds(secondLookMs)}, false) as "wasGone",
      j.job_id in (select job_id from due) as "isDue"
    from (select job_id from due union select job_id from doubted) suspect
    join jobs j using (job_id)
    ${installationToday('j', appIds)}
    where ${mayAsk}
    order by coalesce(j.lookup_due_at, now()), j.job_id`.execute(db);
  return rows;
}

/** A worker that, as far as GitHub says, had none of the jobs that wait. */
export interface JoblessEnd {
  readonly podName: string;
  readonly pool: string;
  /** We stopped it, or are about to; the others ended well by themselves. */
  readonly isStopped: boolean;
}

/**
 * Ends the grace of unexplained ends once GitHub has said that they ran none of their key's oldest
 * waiting jobs: these are still queued, and need workers of their own. A stopped worker's grace is
 * also over when none of those jobs still waits. GitHub must say twice that it does not know a job.
 * Takes the workers of one entity in one pool only, so that what else its transaction locks for
 * them is never locked in another order. Returns them, and wakes the matcher; none: no more are
 * left, or they have changed meanwhile.
 */
export async function endAnsweredGraces(trx: Transaction<Database>, perKey: number): Promise<JoblessEnd[]> {
  const { rows } = await sql<JoblessEnd>`
    with answered as (
      select ends.pod_name, ends.k8s_pool, ends.entity_id
      from (
        select pod_name, k8s_pool, entity_id, demand_key, ${toldAt} as told_at, ${cameUntil} as came_until, stopping_at is not null as is_stopped
        from workers where ${unexplainedEnds}
      ) ends
      where (is_stopped or exists (select from jobs where demand_key = ends.demand_key and wants_worker))
        and not exists (
          select from (
            select looked_up_at, seen_gone_at from jobs
            where demand_key = ends.demand_key and wants_worker and created_at <= ends.came_until order by created_at, job_id limit ${perKey}
          ) oldest where ${isUnanswered} or seen_gone_at is not null)
    ), place as materialized (
      select k8s_pool, entity_id from answered order by k8s_pool, entity_id limit 1
    ), locked as (
      select pod_name from workers
      where pod_name in (select pod_name from answered join place using (k8s_pool, entity_id)) and ${unexplainedEnds} order by pod_name for update
    ), ended as (
      update workers w set unexplained_until = null from locked where w.pod_name = locked.pod_name and w.assigned_at is null
      returning w.pod_name, w.k8s_pool, w.stopping_at is not null as is_stopped
    )
    select pod_name as "podName", k8s_pool as pool, is_stopped as "isStopped", pg_notify(current_schema() || '_queue_event', 'workers')
    from ended`.execute(trx);
  return rows.map(({ podName, pool, isStopped }) => ({ podName, pool, isStopped }));
}
