import type { DeliveredStatement } from '@paddock/domain/deliveries/fold-job-statements';
import { storableLabels } from '@paddock/domain/pools/labels';
import type { PlacedJob } from '@paddock/domain/pools/place-job';
import { CompiledQuery, type Transaction } from 'kysely';
import { preparedText } from '../connection/prepared.ts';
import type { Database, Status } from '../schema/tables.ts';

/** A job's folded facts and its pool; without a pool it is stored only if it has a row already or runs on a worker of ours (B7). */
export interface JobToStore {
  readonly facts: DeliveredStatement;
  readonly place: PlacedJob | undefined;
}

export interface StoredJob {
  readonly jobId: number;
  /** The status before; null if there was no row. */
  readonly before: Status | null;
  /** The row was inserted or updated; false also where no row was wanted. */
  readonly changed: boolean;
  /** The worker of ours that runs it, in the job's scope. */
  readonly worker: string | null;
  /** That worker does not know yet that it is assigned. */
  readonly isUnbound: boolean;
}

// pending -> running -> completed | failed, forward only. `e` is the row, `excluded` what GitHub says now. Each column ends the same in
// whichever order the statements come: where two contradict each other, a comparison decides and not their arrival.
const ended = `e.status in ('completed', 'failed')`;
const isEnd = `excluded.status = 'completed'`;
// The end names the runner for good; before it, the later start does.
const isNewerRun = `(${isEnd} or (excluded.started_at, excluded.runner_name collate "C")
  > (coalesce(e.started_at, '-infinity'), coalesce(e.runner_name, '') collate "C"))`;
const isNewRunner = `(excluded.runner_name is not null and (e.runner_name is null or (not ${ended} and ${isNewerRun})))`;
// A job ends once: of two ends that GitHub states, the earlier one is it.
const isEarlierEnd = `(e.status = 'completed' and ${isEnd} and (excluded.completed_at, coalesce(excluded.conclusion, '') collate "C")
  < (e.completed_at, coalesce(e.conclusion, '') collate "C"))`;
// A repeated in_progress is old news; without this it would take back a demand that GitHub itself has confirmed since (A6).
const isSameRun = `(e.status = 'running' and excluded.status = 'running'
  and excluded.runner_name is not distinct from e.runner_name and excluded.started_at is not distinct from e.started_at)`;
const clearsDemand = `(excluded.status <> 'pending' and not ${isSameRun})`;

// Under a newer pools document a job that still waits may belong elsewhere (B4); one that has begun stays where it ran.
const isMoved = `(e.wants_worker and not ${clearsDemand} and excluded.pools_version > e.pools_version
  and (excluded.k8s_pool, excluded.scope_repo_id) is distinct from (e.k8s_pool, e.scope_repo_id))`;

type Moves = Readonly<Record<string, string>>;

const filledIn = (column: string): string => `coalesce(e.${column}, excluded.${column})`;
/** What belongs to the runner comes and goes with its name; the same runner's may be filled in. */
const ofRunner = (column: string): string =>
  `case when ${isNewRunner} then excluded.${column}
    when excluded.runner_name = e.runner_name then ${filledIn(column)} else e.${column} end`;
const ofEnd = (column: string): string =>
  `case when ${isEarlierEnd} then coalesce(excluded.${column}, e.${column}) else ${filledIn(column)} end`;
const ofPlace = (column: string): string => `case when ${isMoved} then excluded.${column} else e.${column} end`;
const whileDemanded = (column: string): string => `case when not ${clearsDemand} then e.${column} end`;

// Each column that GitHub's statements can move, and to what.
const placement: Moves = {
  k8s_pool: ofPlace('k8s_pool'),
  k8s_image: ofPlace('k8s_image'),
  scope_repo_id: ofPlace('scope_repo_id'),
  pools_version: ofPlace('pools_version'),
};
const demand: Moves = {
  wants_worker: `e.wants_worker and not ${clearsDemand}`,
  // Whatever was to be looked up is answered.
  lookup_due_at: whileDemanded('lookup_due_at'),
  seen_queued_at: whileDemanded('seen_queued_at'),
};
const history: Moves = {
  status: `case when ${ended} then e.status else greatest(e.status, excluded.status) end`,
  // Where two Apps tell of one job, the first of them by its id is asked for its runners.
  app_id: `least(e.app_id, excluded.app_id)`,
  installation_id: `case when excluded.app_id < e.app_id or (excluded.app_id = e.app_id and e.installation_id = 0)
    then excluded.installation_id else e.installation_id end`,
  conclusion: ofEnd('conclusion'),
  runner_name: ofRunner('runner_name'),
  runner_id: ofRunner('runner_id'),
  k8s_pod: ofRunner('k8s_pod'),
  workflow_name: filledIn('workflow_name'),
  html_url: filledIn('html_url'),
  queued_at: filledIn('queued_at'),
  started_at: `case when not ${ended} and excluded.started_at is not null and ${isNewerRun} then excluded.started_at else ${filledIn('started_at')} end`,
  completed_at: ofEnd('completed_at'),
  misjudged: `e.misjudged or (e.status = 'failed' and ${isEnd})`,
};

const assignments = Object.entries({ ...placement, ...demand, ...history })
  .map(([column, value]) => `${column} = ${value}`)
  .join(', ');
const currentHistory = Object.keys(history)
  .map((column) => `e.${column}`)
  .join(', ');
// Place and demand move as a whole, which is said without their columns: expressions cost each run of the statement, used or not.
const isChanged = `(${isMoved} or (${clearsDemand} and (e.wants_worker or e.lookup_due_at is not null or e.seen_queued_at is not null))
  or (${currentHistory}) is distinct from (${Object.values(history).join(', ')}))`;

/**
 * The one statement that writes what GitHub says of jobs (A5, A6): a row is inserted, moved forward, filled in, or left alone. Saying the
 * same again changes nothing, `updated_at` included, and the order of what is said makes no difference.
 *
 * `jobs` holds each job once, sorted by id: rows are locked in that order by everybody, and before any worker. Only the INSERT locks any,
 * one after the other; locking those that exist beforehand would be a second order, and deadlocks. Workers are only read here.
 *
 * These are the statement's queries, as text that is put together once; the last, `stored`, has a row for each job: (job_id, before,
 * changed, worker, is_unbound). A row that came into being since the statement began is not among those read, yet it was there before.
 * What exists is looked up row by row (`limit 1` keeps it so): a plan that is made once must be right for tables of any size.
 */
export const STORING_JOBS = `
    stated as (
      select * from json_to_recordset($1::json) as stated(
        job_id bigint, status status_enum, entity_id bigint, entity_name text, entity_type text, repo_id bigint, repo_full_name text,
        app_id bigint, installation_id bigint, job_labels jsonb, k8s_pool text, k8s_image text, scope_repo_id bigint, run_id bigint,
        run_attempt integer, job_name text, workflow_name text, html_url text, conclusion text, runner_name text, runner_id bigint,
        queued_at timestamptz, started_at timestamptz, completed_at timestamptz, delivery_guid text)
    ), placed as materialized (
      select stated.*, known.status as before, worker.pod_name as worker,
        worker.pod_name is not null and worker.assigned_job_id is null as is_unbound,
        coalesce(stated.k8s_pool, known.k8s_pool, worker.k8s_pool) as pool,
        coalesce(stated.k8s_image, known.k8s_image, worker.k8s_image) as image,
        coalesce(stated.scope_repo_id, known.scope_repo_id, worker.scope_repo_id) as scope
      from stated
      left join lateral (
        select status, k8s_pool, k8s_image, scope_repo_id from jobs where job_id = stated.job_id limit 1
      ) known on true
      left join lateral (
        select pod_name, assigned_job_id, k8s_pool, k8s_image, scope_repo_id from workers
        where pod_name = stated.runner_name and entity_id = stated.entity_id and scope_repo_id in (0, stated.repo_id) limit 1
      ) worker on true
    ), written as (
      insert into jobs as e (job_id, status, wants_worker, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id,
        installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version, run_id, run_attempt, job_name, workflow_name,
        html_url, conclusion, runner_name, runner_id, k8s_pod, queued_at, started_at, completed_at, delivery_guid)
      select job_id, status, status = 'pending', entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id,
        coalesce(installation_id,
          (select i.installation_id from installations i where i.entity_id = placed.entity_id and i.app_id = placed.app_id), 0),
        job_labels, pool, image, scope, $2, run_id, run_attempt, job_name, workflow_name,
        html_url, conclusion, runner_name, runner_id, worker, queued_at, started_at, completed_at, delivery_guid
      from placed where pool is not null order by job_id
      on conflict (job_id) do update set ${assignments} where ${isChanged}
      returning job_id, xmax = 0 as is_new
    ), stored as (
      select placed.job_id, case when placed.before is null and not written.is_new then 'pending' else placed.before end as before,
        written.job_id is not null as changed, placed.worker, placed.is_unbound
      from placed left join written using (job_id)
    )`;

/** The values of $1 and $2 in STORING_JOBS. */
export const jobParameters = (jobs: readonly JobToStore[], poolsVersion: number): unknown[] => [
  JSON.stringify(jobs.map(toRow)),
  poolsVersion,
];

const STORE_JOBS = preparedText(`with ${STORING_JOBS}
    select job_id as "jobId", before, changed, worker, is_unbound as "isUnbound" from stored`);

/** Stores what GitHub says of jobs, and nothing else. */
export async function storeJobs(trx: Transaction<Database>, jobs: readonly JobToStore[], poolsVersion: number): Promise<StoredJob[]> {
  const { rows } = await trx.executeQuery<StoredJob>(CompiledQuery.raw(STORE_JOBS, jobParameters(jobs, poolsVersion)));
  return rows;
}

function toRow({ facts, place }: JobToStore): Readonly<Record<string, unknown>> {
  return {
    job_id: facts.jobId,
    status: facts.status,
    entity_id: facts.account.id,
    entity_name: facts.account.login,
    entity_type: facts.account.type,
    repo_id: facts.repoId,
    repo_full_name: facts.repoFullName,
    app_id: facts.appId,
    installation_id: facts.installationId,
    job_labels: storableLabels(facts.labels),
    k8s_pool: place?.pool,
    k8s_image: place?.image,
    scope_repo_id: place?.scopeRepoId,
    run_id: facts.runId,
    run_attempt: facts.runAttempt,
    job_name: facts.jobName,
    workflow_name: facts.workflowName,
    html_url: facts.htmlUrl,
    conclusion: facts.conclusion,
    runner_name: facts.runnerName,
    runner_id: facts.runnerId,
    queued_at: facts.queuedAt,
    started_at: facts.startedAt,
    completed_at: facts.completedAt,
    delivery_guid: facts.deliveryGuid,
  };
}
