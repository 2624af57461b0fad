import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { placeJob } from '@paddock/domain/pools/place-job';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';

/** How long a job waited and ran, by GitHub's instants; undefined if the delivery does not say. */
export interface JobTimes {
  readonly pool: string;
  readonly queueSeconds: number | undefined;
  readonly runSeconds: number | undefined;
}

/**
 * Reads a job's times from a delivery that was just stored. Each time counts once: with the
 * delivery that moved the job, or stored it first. Undefined if no pool serves the job, or nothing
 * moved.
 */
export function jobTimes(
  document: PoolsDocument,
  parsed: ParsedDelivery,
  outcome: Outcome,
): JobTimes | undefined {
  if (parsed.kind !== 'job') return undefined;
  const { job } = parsed;
  const isFirst = outcome === 'job_stored' && job.status !== 'pending';
  if (!isFirst && !MOVES.has(outcome)) return undefined;
  const place = placeJob(document, job);
  // A job that was cancelled while it waited never ran, although GitHub gives it a start.
  if ('ignored' in place || job.runnerName === null) return undefined;
  const isEnd = job.status === 'completed';
  return {
    pool: place.pool,
    queueSeconds: isFirst || !isEnd ? secondsBetween(job.queuedAt, job.startedAt) : undefined,
    runSeconds: isEnd ? secondsBetween(job.startedAt, job.completedAt) : undefined,
  };
}

const MOVES: ReadonlySet<Outcome> = new Set<Outcome>([
  'job_marked_running',
  'job_marked_completed',
  'worker_misused',
]);

/** GitHub's instants are whole seconds of several clocks, so an end may lie before its start. */
function secondsBetween(from: string | null, to: string | null): number | undefined {
  return from === null || to === null
    ? undefined
    : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1_000);
}
