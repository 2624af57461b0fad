import { rankOf } from './fold-job-statements.ts';
import type { Outcome } from './outcomes.ts';
import type { IgnoredJob, PlacedJob } from '../pools/place-job.ts';
import type { StatedStatus } from './workflow-job-event.ts';

/** The result of storing a job's folded statements. */
export interface JobResult {
  /** The status before; undefined without a row. */
  readonly before: 'pending' | 'running' | 'completed' | 'failed' | undefined;
  /** The row was written. */
  readonly changed: boolean;
  readonly place: PlacedJob | IgnoredJob;
  /** A worker runs it whose pool does not serve it. */
  readonly isMisused?: boolean;
}

/** The outcome of each delivery of a job in order of arrival, as if each had been stored alone. */
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
  // The row changed, but not its status: the first delivery with new facts filled it in.
  if (!changed || outcomes.some((outcome) => outcome !== 'job_already_exists')) return outcomes;
  return outcomes.with(Math.max(0, begun), 'job_facts_added');
}
