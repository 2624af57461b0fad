import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database, JobsTable, Status } from '../schema/tables.ts';
import { hasEnded, isUnended } from '../states/job-states.ts';
import {
  allOf,
  has,
  hasText,
  isOnPage,
  LONGEST_FAILURE,
  newestOf,
  newestOfFew,
  newestRows,
  type PageOfTime,
  type Position,
  readListed,
} from './newest-first.ts';

/** Whose jobs, and of which name. */
export interface JobPlace {
  readonly entityId?: number | undefined;
  readonly repoId?: number | undefined;
  readonly pool?: string | undefined;
  readonly workflow?: string | undefined;
}

/** Jobs that wait or run are few, so that every combination is fast. */
export interface ActiveJobsFilter extends JobPlace {
  readonly state: 'waiting' | 'running';
}

/** Ended jobs are many: an index finds those of a repository, an entity, a pool or a conclusion. */
export interface JobsFilter extends JobPlace {
  readonly isEnded?: boolean | undefined;
  /** No job has one before it has ended. */
  readonly conclusion?: string | undefined;
}

/** What lists say of a job. */
export interface JobSummary {
  readonly jobId: number;
  readonly status: Status;
  readonly jobName: string;
  readonly workflowName: string | null;
  readonly runId: number;
  readonly runAttempt: number;
  readonly entityId: number;
  readonly entityName: string;
  readonly repoId: number;
  readonly repoFullName: string;
  readonly pool: string;
  readonly labels: readonly string[];
  readonly podName: string | null;
  readonly conclusion: string | null;
  /** Why we called it failed: the beginning. */
  readonly failure: string | null;
  /** Why no more workers are made for its key, and since when. Null: it does not wait for one. */
  readonly waitReason: string | null;
  readonly waitSince: Date | null;
  readonly htmlUrl: string | null;
  readonly createdAt: Date;
  readonly queuedAt: Date | null;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
}

export interface ListedJob extends JobSummary {
  readonly position: Position<number>;
}

/** The columns of a JobSummary, of the job `j` and its key `d` while it waits. */
const SUMMARY = sql`
  j.job_id as "jobId", j.status, j.job_name as "jobName", j.workflow_name as "workflowName", j.run_id as "runId",
  j.run_attempt as "runAttempt", j.entity_id as "entityId", j.entity_name as "entityName", j.repo_id as "repoId",
  j.repo_full_name as "repoFullName", j.k8s_pool as pool, j.job_labels as labels, j.k8s_pod as "podName", j.conclusion,
  left(j.failure_info ->> 'message', ${LONGEST_FAILURE}) as failure, d.wait_reason as "waitReason", d.wait_since as "waitSince",
  j.html_url as "htmlUrl", j.created_at as "createdAt", j.queued_at as "queuedAt", j.started_at as "startedAt",
  j.completed_at as "completedAt"`;

/** Joins the key `d` of a job `j` that waits for a worker. */
const WAITED_KEY = sql`left join demand_keys d on j.wants_worker and d.demand_key = j.demand_key`;

const JOBS = {
  table: sql`jobs`,
  id: sql`job_id`,
  idType: sql`bigint`,
  columns: SUMMARY,
  joined: sql`jobs j using (job_id) ${WAITED_KEY}`,
  positionId: sql`j.job_id`,
};

const readFew = (
  db: Kysely<Database>,
  condition: RawBuilder<unknown>,
  page: PageOfTime<number>,
): Promise<ListedJob[]> => readListed(db, JOBS, newestOfFew(JOBS, condition, page));

/** Jobs that wait or run, newest first by their rows' time. */
export const listActiveJobs = (
  db: Kysely<Database>,
  { state, ...place }: ActiveJobsFilter,
  page: PageOfTime<number>,
): Promise<ListedJob[]> =>
  readFew(db, sql`status = ${state === 'waiting' ? 'pending' : state} and ${isAt(place)}`, page);

/** Jobs that wait for a worker, and their keys for this reason; null: nothing holds these keys back. */
export const listJobsByReason = (
  db: Kysely<Database>,
  { reason, ...place }: JobPlace & { readonly reason: string | null },
  page: PageOfTime<number>,
): Promise<ListedJob[]> =>
  readFew(
    db,
    sql`wants_worker and ${
      reason === null
        ? sql`demand_key not in (select demand_key from demand_keys where wait_reason is not null)`
        : sql`demand_key in (select demand_key from demand_keys where wait_reason = ${reason})`
    } and ${isAt(place)}`,
    page,
  );

/** Jobs, newest first by their rows' time. */
export function listJobs(
  db: Kysely<Database>,
  { isEnded = false, conclusion, ...place }: JobsFilter,
  page: PageOfTime<number>,
): Promise<ListedJob[]> {
  const isMeant = allOf(isAt(place), hasText('conclusion', conclusion));
  const ended = newestRows(JOBS, sql`${sql.raw(hasEnded('jobs'))} and ${isMeant}`, page);
  if (isEnded || conclusion !== undefined) return readListed(db, JOBS, ended);
  const active = newestOfFew(JOBS, sql`${isUnended('jobs')} and ${isMeant}`, page);
  return readListed(db, JOBS, newestOf(JOBS, [active, ended], page));
}

/** Whether a row of `jobs` is one of these. */
const isAt = ({ entityId, repoId, pool, workflow }: JobPlace): RawBuilder<boolean> =>
  allOf(
    has('entity_id', entityId),
    has('repo_id', repoId),
    has('k8s_pool', pool),
    hasText('workflow_name', workflow),
  );

/** A job as lists have it, with its whole row. */
export type FoundJob = JobSummary & Selectable<JobsTable>;

/** Undefined: there is no row of this job, or it was deleted. */
export async function findJob(db: Kysely<Database>, jobId: number): Promise<FoundJob | undefined> {
  const { rows } = await sql<FoundJob>`
    select j.*, ${SUMMARY} from jobs j ${WAITED_KEY} where j.job_id = ${jobId}`.execute(db);
  return rows[0];
}

/**
 * The ids of a run's jobs that wait or run, rising, from the first one after `after`. The run is of
 * an entity with this login: its jobs are found by the entity, as runs have no index.
 */
export async function findJobsOfRun(
  db: Kysely<Database>,
  run: { run: number; owner: string; limit: number; after?: readonly [number] | undefined },
): Promise<number[]> {
  const { rows } = await sql<{ jobId: number }>`
    with of_run as materialized (
      -- All of them before any order: in the order of ids the planner would walk through every job.
      select job_id from jobs j
      where ${isUnended('j')} and run_id = ${run.run}
        and entity_id = any (array(select entity_id from installations where lower(login) = lower(${run.owner})))
    )
    select job_id as "jobId" from of_run where job_id > ${run.after?.[0] ?? 0} order by job_id limit ${run.limit}`.execute(
    db,
  );
  return rows.map(({ jobId }) => jobId);
}

/** The jobs that wait for one reason. */
export interface CountedWaits {
  /** Null: nothing holds their workers back. */
  readonly reason: string | null;
  readonly jobs: number;
  readonly pools: readonly string[];
  /** When the oldest of them was stored. */
  readonly oldestAt: Date;
}

/**
 * By the reasons that the matcher stored last, those of most jobs first. The jobs of a key have one
 * pool and one reason, so this groups by key first: there are far fewer keys than jobs.
 */
export async function countWaits(
  db: Kysely<Database>,
  { from, to, ...place }: JobPlace & Pick<PageOfTime<number>, 'from' | 'to'> = {},
): Promise<CountedWaits[]> {
  const { rows } = await sql<CountedWaits>`
    with waiting as (
      select demand_key, count(*) as jobs, min(k8s_pool collate "C") as pool, min(created_at) as oldest from jobs
      where wants_worker and ${isAt(place)} and ${isOnPage(JOBS, { limit: 0, from, to })} group by 1
    )
    select wait_reason as reason, sum(jobs)::bigint as jobs, array_agg(distinct pool order by pool) as pools, min(oldest) as "oldestAt"
    from waiting left join demand_keys using (demand_key) group by 1 order by 2 desc, 1`.execute(
    db,
  );
  return rows;
}
