import { sql } from 'kysely';

/**
 * SQL about worker `w`: a job was bound to it that has not ended, as far as we know. A runner runs one job in its life, so nothing runs on it
 * once that has. A job that is not to be seen runs: its row may be committed by a delivery that binds it this very moment, and a statement
 * that waited for that sees the worker's new row beside the jobs of before. By the job's key: EXISTS might be hashed over all ended jobs.
 */
export const RUNS_BOUND_JOB = sql.raw(`(w.assigned_job_id is not null and coalesce(
  (select bound.status not in ('completed', 'failed') from jobs bound where bound.job_id = w.assigned_job_id), true))`);

/** SQL about worker `w`: a job is known to run on it. Once it is stopped as `over`, a job that nobody can name is none. */
export const IS_ASSIGNED = sql`(w.assigned_at is not null and (w.stop_reason is distinct from 'over' or ${RUNS_BOUND_JOB}))`;
