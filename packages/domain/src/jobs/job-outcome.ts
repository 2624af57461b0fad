import type { JobRow } from './merge-statement.ts';
import type { IgnoredJob, PlacedJob } from '../pools/place-job.ts';
import type { Outcome } from '../deliveries/outcomes.ts';

/** What a statement has done to a job's row. */
export interface Merged {
  readonly before: Pick<JobRow, 'status'> | undefined;
  /** The same object if nothing changed. */
  readonly after: Pick<JobRow, 'status'> | undefined;
  readonly place: PlacedJob | IgnoredJob;
  /** By this statement, a worker runs the job whose pool does not serve it. */
  readonly isMisused: boolean;
}

/** The outcome of the statement's delivery. */
export function jobOutcome({ before, after, place, isMisused }: Merged): Outcome {
  const isIgnored = 'ignored' in place;
  if (after === undefined && isIgnored) return place.ignored;
  if (after === undefined || after === before) return 'job_already_exists';
  if (isMisused) return 'worker_misused';
  if (before === undefined) return isIgnored ? 'worker_bound' : 'job_stored';
  if (after.status === before.status) return 'job_facts_added';
  return after.status === 'completed' ? 'job_marked_completed' : 'job_marked_running';
}
