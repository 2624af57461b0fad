import { sql } from 'kysely';
import { isUnended } from '../jobs/job-states.ts';

/**
 * SQL about worker `w`: a job was bound to it that has not ended, as far as we know. A runner runs
 * one job in its life, so nothing runs on it once that job has ended. A bound job whose row cannot
 * be seen counts as running: the delivery that binds it may be committing its row just now. A
 * statement that waited for that commit sees the worker's new row, but the jobs as they were
 * before. By the job's key: EXISTS might be hashed over all ended jobs.
 */
export const RUNS_BOUND_JOB = sql`(w.assigned_job_id is not null and coalesce(
  (select ${isUnended('bound')} from jobs bound where bound.job_id = w.assigned_job_id), true))`;

/**
 * SQL about worker `w`: a job is known to run on it. Once it is stopped as `over`, a job that was
 * never identified counts as none.
 */
export const IS_ASSIGNED = sql`(w.assigned_at is not null and (w.stop_reason is distinct from 'over' or ${RUNS_BOUND_JOB}))`;
