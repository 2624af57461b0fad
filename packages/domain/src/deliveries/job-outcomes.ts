import { rankOf } from './fold-job-statements.ts';
import type { Outcome } from './outcomes.ts';
import type { IgnoredJob, PlacedJob } from '../pools/place-job.ts';
import type { StatedStatus } from './workflow-job-event.ts';

/** What storing a job's folded statements came to. */
export interface JobResult {
  /** The status before; undefined if there was no row. */
  readonly before: 'pending' | 'running' | 'completed' | 'failed' | undefined;
  /** There is a row now, and it was written to. */
  readonly changed: boolean;
  readonly place: PlacedJob | IgnoredJob;
  /** A worker was found to run it whose pool does not serve such jobs. */
  readonly isMisused?: boolean;
}

/** The outcome of each of a job's deliveries, in the order of their arrival, as if they had been stored one after the other. */
export function jobOutcomes(result: JobResult, arrived: readonly StatedStatus[]): Outcome[] {
  const { before, changed, place, isMisused = false } = result;
  const isIgnored = 'ignored' in place && before === undefined && !changed;
  if (isIgnored) return arrived.map(() => place.ignored);
  let status = before;
  const outcomes = arrived.map((stated): Outcome => {
    if (!changed) return 'job_already_exists';
    const previous = status;
    if (previous === undefined) {
      status = stated;
      return 'ignored' in place ? 'worker_bound' : 'job_stored';
    }
    if (previous === 'failed' || rankOf(stated) <= rankOf(previous)) return 'job_already_exists';
    status = stated;
    return stated === 'completed' ? 'job_marked_completed' : 'job_marked_running';
  });
  const begun = arrived.findIndex((stated) => stated !== 'pending');
  if (changed && isMisused && begun !== -1) return outcomes.with(begun, 'worker_misused');
  // The row was written to, yet no status moved: the first delivery that could know more than the row did is the one that filled it in.
  if (!changed || outcomes.some((outcome) => outcome !== 'job_already_exists')) return outcomes;
  return outcomes.with(Math.max(0, begun), 'job_facts_added');
}
