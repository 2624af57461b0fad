import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { placeJob } from '@paddock/domain/pools/place-job';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';

/** How long a job waited for its runner and how long it ran, by GitHub's instants; undefined what this delivery does not tell. */
export interface JobTimes {
  readonly pool: string;
  readonly queueSeconds: number | undefined;
  readonly runSeconds: number | undefined;
}

/**
 * What a delivery that was just stored says of its job's times. The delivery that moved the job, or was the first to name a time, counts
 * it; others do not. Undefined for a job that no pool serves, and for a delivery that was old news.
 */
export function jobTimes(document: PoolsDocument, parsed: ParsedDelivery, outcome: Outcome): JobTimes | undefined {
  if (parsed.kind !== 'job') return undefined;
  const { job } = parsed;
  const isFirst = outcome === 'job_stored' && job.status !== 'pending';
  if (!isFirst && !MOVES.has(outcome)) return undefined;
  const place = placeJob(document, job);
  // A job that is cancelled while it waits never ran, and GitHub gives it an instant of its start all the same.
  if ('ignored' in place || job.runnerName === null) return undefined;
  const isEnd = job.status === 'completed';
  return {
    pool: place.pool,
    queueSeconds: isFirst || !isEnd ? secondsBetween(job.queuedAt, job.startedAt) : undefined,
    runSeconds: isEnd ? secondsBetween(job.startedAt, job.completedAt) : undefined,
  };
}

const MOVES: ReadonlySet<Outcome> = new Set<Outcome>(['job_marked_running', 'job_marked_completed', 'worker_misused']);

/** GitHub's instants are whole seconds of several clocks: one may seem to lie before the other. */
function secondsBetween(from: string | null, to: string | null): number | undefined {
  return from === null || to === null ? undefined : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1_000);
}
