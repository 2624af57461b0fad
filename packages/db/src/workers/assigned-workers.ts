import { sql } from 'kysely';
import { isUnended } from '../states/job-states.ts';

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
