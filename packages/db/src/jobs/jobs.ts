import { OLD_AFTER_MS } from '@paddock/domain/jobs/old-delivery';
import { CompiledQuery, type Transaction } from 'kysely';
import { type JobToStore, STATED_COLUMNS, statedColumns } from './stated-columns.ts';
import { preparedText } from '../connection/prepared.ts';
import { asParameters, asRecord, parametersOf } from '../connection/source-columns.ts';
import type { Database, Status } from '../schema/tables.ts';
import { hasEnded } from '../states/job-states.ts';

export interface StoredJob {
  readonly jobId: number;
  /** The status before; null if there was no row. */
  readonly before: Status | null;
  /** The row was inserted or updated; false also where no row was wanted. */
  readonly changed: boolean;
  /** Our worker that runs it, in the job's scope. */
  readonly worker: string | null;
  /** That worker's row is not assigned yet. */
  readonly isUnbound: boolean;
  /** Its entity's login is pinned to another entity, so that no pool serves it. */
  readonly isRefused: boolean;
  /** And its pool does not serve such jobs. */
  readonly isMisused: boolean;
}

// pending -> running -> completed | failed: this statement moves forward only. Only a look-up takes
// a failed job back to pending. `e` is the row, `excluded` GitHub's statement. The order of
// statements changes no column: where two contradict each other, a comparison decides.
const ended = hasEnded('e');
const isEnd = `excluded.status = 'completed'`;
// The statement of the end decides the runner; before it, the later start does.
const isNewerRun = `(${isEnd} or (excluded.started_at, excluded.runner_name collate "C")
  > (coalesce(e.started_at, '-infinity'), coalesce(e.runner_name, '') collate "C"))`;
const isNewRunner = `(excluded.runner_name is not null and (e.runner_name is null or (not ${ended} and ${isNewerRun})))`;
// A job ends once: the earlier of two stated ends counts.
const isEarlierEnd = `(e.status = 'completed' and ${isEnd} and (excluded.completed_at, coalesce(excluded.conclusion, '') collate "C")
  < (e.completed_at, coalesce(e.conclusion, '') collate "C"))`;
// A repeated in_progress is old news; without this it would take back a demand that GitHub itself
// has confirmed since.
const isSameRun = `(e.status = 'running' and excluded.status = 'running'
  and excluded.runner_name is not distinct from e.runner_name and excluded.started_at is not distinct from e.started_at)`;
const clearsDemand = `(excluded.status <> 'pending' and not ${isSameRun})`;

// Under a newer pools document a job that still waits may belong elsewhere; one that has begun
// stays where it ran.
const isMoved = `(e.wants_worker and not ${clearsDemand} and excluded.pools_version > e.pools_version
  and (excluded.k8s_pool, excluded.scope_repo_id) is distinct from (e.k8s_pool, e.scope_repo_id))`;

type Moves = Readonly<Record<string, string>>;

const filledIn = (column: string): string => `coalesce(e.${column}, excluded.${column})`;
/** Columns of the runner change with its name; the same runner's may be filled in. */
const ofRunner = (column: string): string =>
  `case when ${isNewRunner} then excluded.${column}
    when excluded.runner_name = e.runner_name then ${filledIn(column)} else e.${column} end`;
const ofEnd = (column: string): string =>
  `case when ${isEarlierEnd} then coalesce(excluded.${column}, e.${column}) else ${filledIn(column)} end`;
const ofPlace = (column: string): string =>
  `case when ${isMoved} then excluded.${column} else e.${column} end`;
const whileDemanded = (column: string): string =>
  `case when not ${clearsDemand} then e.${column} end`;

// Each column that a statement can change, and its new value.
const placement: Moves = {
  k8s_pool: ofPlace('k8s_pool'),
  k8s_image: ofPlace('k8s_image'),
  scope_repo_id: ofPlace('scope_repo_id'),
  pools_version: ofPlace('pools_version'),
};
const demand: Moves = {
  wants_worker: `e.wants_worker and not ${clearsDemand}`,
  // Any look-up that was due is answered.
  lookup_due_at: whileDemanded('lookup_due_at'),
  seen_queued_at: whileDemanded('seen_queued_at'),
};
const history: Moves = {
  status: `case when ${ended} then e.status else greatest(e.status, excluded.status) end`,
  // If two Apps state one job, the App with the lower id is used for its runners.
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
// Place and demand move as a whole, which is said without their columns: expressions cost each run
// of the statement, used or not.
const isChanged = `(${isMoved} or (${clearsDemand} and (e.wants_worker or e.lookup_due_at is not null or e.seen_queued_at is not null))
  or (${currentHistory}) is distinct from (${Object.values(history).join(', ')}))`;

/**
 * The job of an old delivery becomes demand after a look-up. One answer is enough, because the
 * delivery is the first sighting. The reconciler's findings have no delivery: GitHub has just
 * stated them.
 */
const isOld = `(status = 'pending' and delivery_guid is not null and queued_at < now() - interval '${OLD_AFTER_MS} milliseconds') is true`;

/** A job without a row gets one. `placed` has the statements of the jobs and their pools. */
const insertingJobs = (placed: string): string => `
      insert into jobs as e (job_id, status, wants_worker, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id,
        installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version, run_id, run_attempt, job_name, workflow_name,
        html_url, conclusion, runner_name, runner_id, k8s_pod, queued_at, started_at, completed_at, delivery_guid,
        lookup_due_at, seen_queued_at)
      select job_id, status, status = 'pending' and not ${isOld}, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id,
        installation, job_labels, pool, image, scope, pools_version, run_id, run_attempt, job_name, workflow_name,
        html_url, conclusion, runner_name, runner_id, worker, queued_at, started_at, completed_at, delivery_guid,
        case when ${isOld} then now() end, case when ${isOld} then queued_at end
      from ${placed}
      on conflict (job_id) do`;

// Any user may give a runner one of our names, so the runner's id decides where both are known. A
// worker gets its runner's id before its pod is made: without an id and a pod it has no runner.
// Only an adopted worker never has an id.
const isItsRunner = `case when runner_id is null then status <> 'pending' or pod_uid is not null else runner_id = coalesce(stated.runner_id, runner_id) end`;

/**
 * The one statement that writes what GitHub states of jobs: it inserts a row, moves it forward,
 * fills it in, or leaves it. A repeated statement changes nothing, not even `updated_at`, and the
 * order of statements makes no difference.
 *
 * `jobs` holds each job once, sorted by id. All transactions lock jobs in that order, after pinned
 * logins and before workers. Only the INSERT locks them, one after the other: to lock existing rows
 * before would be a second order, and deadlock. Workers are only read here.
 *
 * These are the statement's queries, as text composed once. The last, `stored`, has a row for each
 * job: (job_id, before, changed, worker, is_unbound, is_refused, is_misused). A row that was
 * inserted since the statement began is not among those read, but it was there before. Existing
 * rows are looked up one by one (`limit 1` ensures it): a plan made once must be right for tables
 * of any size.
 */
export const STORING_JOBS = `
    stated as (
      select * from json_to_recordset($1::json) as stated(${asRecord({ ...STATED_COLUMNS, closed_pools: 'text[]', naming_pools: 'text[]' })})
    ), pinned as materialized (
      select login, pin_login(login, entity_id) as owner from (
        select distinct on (by_login) by_login as login, entity_id from stated
        where by_login is not null and not exists (select from login_pins known where known.login = by_login) order by by_login, job_id
      ) unpinned
    ), placed as materialized (
      select stated.*, known.status as before, worker.pod_name as worker,
        worker.pod_name is not null and worker.assigned_job_id is null as is_unbound,
        worker.assigned_job_id is null and (coalesce(worker.k8s_pool = any(stated.closed_pools), false)
          or coalesce(worker.k8s_pool = any(stated.naming_pools), false)
            and exists (select from login_pins p where p.login = lower(stated.entity_name) and p.entity_id <> stated.entity_id)) as is_misused,
        is_refused,
        coalesce(case when not is_refused then stated.k8s_pool end, known.k8s_pool, worker.k8s_pool) as pool,
        coalesce(case when not is_refused then stated.k8s_image end, known.k8s_image, worker.k8s_image) as image,
        coalesce(case when not is_refused then stated.scope_repo_id end, known.scope_repo_id, worker.scope_repo_id) as scope,
        coalesce(stated.installation_id,
          (select i.installation_id from installations i where i.entity_id = stated.entity_id and i.app_id = stated.app_id), 0) as installation,
        $2::integer as pools_version
      from stated
      cross join lateral (
        select coalesce(stated.entity_id <> coalesce(
          (select p.entity_id from login_pins p where p.login = stated.by_login),
          (select p.owner from pinned p where p.login = stated.by_login)), false) as is_refused
      ) pin
      left join lateral (
        select status, k8s_pool, k8s_image, scope_repo_id from jobs where job_id = stated.job_id limit 1
      ) known on true
      left join lateral (
        select pod_name, assigned_job_id, k8s_pool, k8s_image, scope_repo_id from workers
        where pod_name = stated.runner_name and entity_id = stated.entity_id and scope_repo_id in (0, stated.repo_id)
          and ${isItsRunner}
        limit 1
      ) worker on true
    ), written as (
      ${insertingJobs('placed where pool is not null order by job_id')} update set ${assignments} where ${isChanged}
      returning job_id, xmax = 0 as is_new
    ), stored as (
      select placed.job_id, case when placed.before is null and not written.is_new then 'pending' else placed.before end as before,
        written.job_id is not null as changed, placed.worker, placed.is_unbound, placed.is_refused, placed.is_misused
      from placed left join written using (job_id)
    )`;

/** The values of $1 and $2 in STORING_JOBS. */
export const jobParameters = (jobs: readonly JobToStore[], poolsVersion: number): unknown[] => [
  JSON.stringify(
    jobs.map((job) => ({
      ...statedColumns(job),
      closed_pools: job.closedPools,
      naming_pools: job.namingPools,
    })),
  ),
  poolsVersion,
];

/**
 * The short form of the statement, for one unknown job. PostgreSQL pays for the expressions about
 * known jobs at every run, and a job for which a person waits is mostly new and alone. A job that
 * has a row, or fails the `condition` on `stated`, is left alone; then the query `written` has no
 * row. The job has a pool, an installation, and no runner.
 */
export const storingNewJob = (condition: string): string => `
    placed as (
      select stated.*, k8s_pool as pool, k8s_image as image, scope_repo_id as scope, installation_id as installation, null::text as worker,
        $${NEW_JOB_PARAMETERS}::integer as pools_version
      from (select ${asParameters(STATED_COLUMNS, 1)}) stated where ${condition}
    ), written as (
      ${insertingJobs('placed')} nothing
      returning job_id
    )`;

/** How many parameters the short form has, from $1 on. */
export const NEW_JOB_PARAMETERS = Object.keys(STATED_COLUMNS).length + 1;

/** The values of these parameters. */
export const newJobParameters = (job: JobToStore, poolsVersion: number): unknown[] => [
  ...parametersOf(STATED_COLUMNS, statedColumns(job)),
  poolsVersion,
];

const STORE_JOBS = preparedText(`with ${STORING_JOBS}
    select job_id as "jobId", before, changed, worker, is_unbound as "isUnbound", is_refused as "isRefused", is_misused as "isMisused"
    from stored`);

/** Stores statements of jobs, and nothing else. */
export async function storeJobs(
  trx: Transaction<Database>,
  jobs: readonly JobToStore[],
  poolsVersion: number,
): Promise<StoredJob[]> {
  const { rows } = await trx.executeQuery<StoredJob>(
    CompiledQuery.raw(STORE_JOBS, jobParameters(jobs, poolsVersion)),
  );
  return rows;
}
