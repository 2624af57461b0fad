import { sql } from 'kysely';

/**
 * SQL about worker `w`: the job that was bound to it has not ended, as far as we know. A runner runs one job in its life, so nothing runs on
 * it once that has.
 */
export const RUNS_BOUND_JOB = sql.raw(
  `exists (select from jobs bound where bound.job_id = w.assigned_job_id and bound.status in ('pending', 'running'))`,
);

/** SQL about worker `w`: a job is known to run on it. Once it is stopped as `over`, a job that nobody can name is none. */
export const IS_ASSIGNED = sql`(w.assigned_at is not null and (w.stop_reason is distinct from 'over' or ${RUNS_BOUND_JOB}))`;
