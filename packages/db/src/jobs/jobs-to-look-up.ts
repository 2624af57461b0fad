import { type Kysely, sql, type Transaction } from 'kysely';
import { installationToday, loginToday } from '../entities/installation-today.ts';
import { mayCall } from '../entities/told.ts';
import { hasLiveRunner } from '../states/job-states.ts';
import type { Database, EntityType, Status } from '../schema/tables.ts';
import { ANSWER_AGE_LIMIT } from '../workers/request-stops.ts';
import { milliseconds } from '../milliseconds.ts';

/** A job to look up at GitHub, with the present facts about its entity. */
export interface JobToLookUp {
  readonly jobId: number;
  readonly runId: number;
  readonly runAttempt: number;
  readonly repoId: number;
  /** As the last delivery named it; the repository may have another name by now. */
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
  /** Its bound worker is live, and the runner has not ended. */
  readonly hasWorker: boolean;
  /** GitHub called it queued, long enough ago; `wasGone`: GitHub did not know it. */
  readonly wasQueued: boolean;
  /** GitHub hid its repository, so that it is no demand. */
  readonly wasHidden: boolean;
  /** GitHub has answered for it before; its name may come from a delivery. */
  readonly wasLookedUp: boolean;
  readonly wasGone: boolean;
  /** It is due; otherwise an unexplained end is the reason. */
  readonly isDue: boolean;
}

export interface LookUpQuery {
  /** The most jobs that are due: entities in turn, of each those due longest first. */
  readonly batch: number;
  /** The most jobs per key with an unexplained end, the oldest first. */
  readonly perKey: number;
  /** How long after the first answer a second one counts, in milliseconds. */
  readonly secondLookMs: number;
  /** The Apps that are configured here. */
  readonly appIds: readonly number[];
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
/** GitHub can be called about job `j` through `i`. */
const mayAsk = sql`i.app_id is not null and ${mayCall({ appId: 'i.app_id', entityId: 'j.entity_id', repoId: 'j.repo_id' })}`;
const isUnanswered = sql`(looked_up_at is null or looked_up_at < ends.told_at)`;

/**
 * The jobs to look up now: those that are due, and the oldest that a worker with an unexplained end
 * may have run.
 */
export async function findJobsToLookUp(
  db: Kysely<Database>,
  { batch, perKey, secondLookMs, appIds }: LookUpQuery,
): Promise<JobToLookUp[]> {
  const { rows } = await sql<JobToLookUp>`
    with recursive entities as (
      (select entity_id from jobs where lookup_due_at is not null order by entity_id limit 1)
      union all
      select (select entity_id from jobs where lookup_due_at is not null and entity_id > entities.entity_id order by entity_id limit 1)
      from entities where entity_id is not null
    ), due as (
      -- Left out here and not below: jobs without a usable App would fill the batch. Entities take
      -- turns; of each no more are read than the batch may have.
      select job_id from entities cross join lateral (
        select j.job_id, j.lookup_due_at, row_number() over (order by j.lookup_due_at, j.job_id) as turn from (
          select j.job_id, j.lookup_due_at from jobs j ${installationToday('j', appIds)}
          where j.entity_id = entities.entity_id and j.lookup_due_at <= now() and ${mayAsk} order by j.lookup_due_at, j.job_id limit ${batch}
        ) j
      ) of_entity order by turn, lookup_due_at, job_id limit ${batch}
    ), doubted as (
      select oldest.job_id
      from (select demand_key, max(${toldAt}) as told_at, max(${cameUntil}) as came_until from workers
        where ${unexplainedEnds} group by demand_key) ends
      cross join lateral (
        select job_id, looked_up_at, lookup_due_at from jobs where demand_key = ends.demand_key and wants_worker and created_at <= ends.came_until
        order by created_at, job_id limit ${perKey}
      ) oldest
      where ${isUnanswered} and coalesce(lookup_due_at, now()) <= now()
    )
    select j.job_id as "jobId", j.run_id as "runId", j.run_attempt as "runAttempt", j.repo_id as "repoId", j.repo_full_name as "repoFullName",
      j.entity_id as "entityId", j.entity_type as "entityType", ${loginToday('j')} as login,
      i.installation_id as "installationId", i.app_id as "appId",
      j.status, j.revision, j.wants_worker as "wantsWorker",
      ${hasLiveRunner} as "hasWorker",
      coalesce(j.seen_queued_at <= now() - ${milliseconds(secondLookMs)}, false) as "wasQueued",
      j.hidden_since is not null and not j.wants_worker as "wasHidden",
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
 * Takes workers of one entity in one pool only, so that its transaction always locks in one order.
 * Returns them and wakes the matcher; none: no more are left, or they have changed.
 */
export async function endJoblessGraces(
  trx: Transaction<Database>,
  perKey: number,
): Promise<JoblessEnd[]> {
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
