import { sql } from 'kysely';
import { RETURNABLE_REASONS } from '@paddock/domain/workers/stop-reasons';

// For a WHERE whose innermost table is `workers`. Each is also the condition of a partial index.

const LIVE_TEXT = `status in ('pending', 'running')`;

/** The worker counts in every cap. */
export const LIVE = sql.raw<boolean>(LIVE_TEXT);

/** `LIVE` of the worker with this alias, where other tables have a status too. */
export const isLive = (worker: string) => sql.raw<boolean>(`${worker}.${LIVE_TEXT}`);

/** The worker's pod is being deleted, and was not seen to start: it never will. */
const GOING_UNSTARTED = sql.raw(`terminating_at is not null and running_at is null`);

/** It can take a job: it lives, none runs on it, its end is not asked for, its pod can start. */
export const UNASSIGNED = sql<boolean>`${LIVE} and assigned_at is null and stopping_at is null
  and not (${GOING_UNSTARTED})`;

/** The worker is a reservation: not registered yet, so its row alone can be ended. */
export const RESERVED = sql.raw<boolean>(
  `status = 'pending' and registration_started_at is null and pod_uid is null`,
);

/** The runner ended well without a known job: for a while it counts against a waiting one. */
export const UNEXPLAINED = sql.raw<boolean>(
  `unexplained_until is not null and unexplained_until > now() and assigned_at is null`,
);

/** No node takes the worker's pod. */
export const PLACELESS = sql.raw<boolean>(
  `unschedulable_at is not null and status = 'pending' and stopping_at is null`,
);

/** The worker is not on a node yet. */
export const UNPLACED = sql.raw<boolean>(
  `status = 'pending' and k8s_node is null and stopping_at is null`,
);

/** The worker lives, and its end was asked for. */
export const STOPPING = sql<boolean>`${LIVE} and stopping_at is not null`;

/** The worker is unassigned, and GitHub or the cluster knows it: its end takes a task. */
export const RETIRABLE = sql<boolean>`${UNASSIGNED} and (registered_at is not null or pod_uid is not null)`;

/**
 * It is to end because no job needed it, its pod is not gone and can still start, and it is not
 * deregistered yet: it can serve again.
 */
export const RETURNABLE = sql<boolean>`${STOPPING} and assigned_at is null
  and deregistration_started_at is null and pod_gone_at is null
  and not (${GOING_UNSTARTED})
  and stop_reason in (${sql.join(RETURNABLE_REASONS.map((reason) => sql.lit(reason)))})`;

// SQL about a row of `jobs`, by its alias.

/** The job has ended, as text for prepared statements. A look-up may revive it. */
export const hasEnded = (job: string): string => `${job}.status in ('completed', 'failed')`;

/** The job waits or runs. */
export const isUnended = (job: string) =>
  sql.raw<boolean>(`${job}.status in ('pending', 'running')`);

/**
 * The runner of job `j` may still be at work: its worker lives, and its container was not seen to
 * end. `offset 0` makes it a look-up by name: a plan that was kept while few workers lived would
 * read all that live, for each job.
 */
export const hasLiveRunner = sql<boolean>`exists (
  select from (select status, runner_ended_at from workers where pod_name = j.k8s_pod offset 0) w
  where ${isLive('w')} and w.runner_ended_at is null)`;

/**
 * SQL about worker `w`: its bound job has not ended, as far as we know. A runner runs one job in
 * its life, so nothing runs on it after that job. A bound job whose row is not visible counts as
 * running: the transaction of its delivery may be committing. A statement that waited for that
 * commit sees the worker's new row, but the old jobs. It looks the job up by its key: EXISTS might
 * be hashed over all ended jobs.
 */
export const RUNS_BOUND_JOB = sql`(w.assigned_job_id is not null and coalesce(
  (select ${isUnended('bound')} from jobs bound where bound.job_id = w.assigned_job_id), true))`;

/**
 * SQL about worker `w`: a job is known to run on it. A worker that is stopped as `over` and whose
 * job was never identified runs none.
 */
export const IS_ASSIGNED = sql`(w.assigned_at is not null and (w.stop_reason is distinct from 'over' or ${RUNS_BOUND_JOB}))`;
