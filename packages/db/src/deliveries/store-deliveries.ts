import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { lacksRunner } from '@paddock/domain/deliveries/workflow-job-event';
import { isOldDemand } from '@paddock/domain/jobs/merge-statement';
import { placeJob } from '@paddock/domain/pools/place-job';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { lookUpJobsTask } from '@paddock/domain/tasks/sweep-names';
import { isBadData } from '../connection/errors.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { wantExtraPasses } from '../schedules/schedules.ts';
import type { Db } from '../schema/tables.ts';
import { withQuotedNumbers } from './decode-delivery.ts';
import { type DeliveryToRecord, recordDeliveries } from './record-deliveries.ts';

/**
 * Stores a batch, judged by these pools. If a new job's delivery is old, or news of a job lack its
 * runner, it asks for a look-up at GitHub. `onTimes` gets the times of the stored jobs.
 */
export async function storeDeliveries(
  db: Db,
  batch: readonly DeliveryToRecord[],
  pools: CurrentPools,
  onTimes: (times: readonly JobTimes[]) => unknown,
): Promise<readonly Outcome[]> {
  const outcomes = await recordDeliveries(db, batch, pools);
  // A job waits for what GitHub says, this one or another, so the look-up must not wait for its sweep.
  const needsLookUp = ({ parsed }: DeliveryToRecord, index: number) =>
    parsed.kind === 'job' &&
    ((outcomes[index] === 'job_stored' && isOldDemand(parsed.job, Date.now())) ||
      (NEWS.has(outcomes[index]) && lacksRunner(parsed.job)));
  if (batch.some(needsLookUp)) await wantExtraPasses(db, { schedule: lookUpJobsTask.kind });
  const { document } = pools;
  onTimes(batch.flatMap(({ parsed }, nth) => jobTimes(document, parsed, outcomes[nth]) ?? []));
  return outcomes;
}

const NEWS: ReadonlySet<Outcome | undefined> = new Set(['job_stored', 'job_marked_running']);

/** The same for a delivery alone. */
export const storeDelivery = (
  db: Db,
  delivery: DeliveryToRecord,
  pools: CurrentPools,
  onTimes: (times: readonly JobTimes[]) => unknown,
): Promise<Outcome> =>
  storeWhole(delivery, async (one) => {
    const [outcome = 'ok'] = await storeDeliveries(db, [one], pools, onTimes);
    return outcome;
  });

/** Stores one delivery by `store`. Of numbers that JSONB cannot hold it stores their text. */
export async function storeWhole(
  delivery: DeliveryToRecord,
  store: (delivery: DeliveryToRecord) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await store(delivery);
  } catch (error) {
    if (!isBadData(error)) throw error;
    return store(withQuotedNumbers(delivery));
  }
}

/** How long a job waited and ran, by GitHub's instants; undefined if the delivery does not say. */
export interface JobTimes {
  readonly jobId: number;
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
  outcome: Outcome | undefined,
): JobTimes | undefined {
  if (parsed.kind !== 'job') return undefined;
  const { job } = parsed;
  const isFirst = outcome === 'job_stored' && job.status !== 'pending';
  if (outcome === undefined || (!isFirst && !MOVES.has(outcome))) return undefined;
  const place = placeJob(document, job);
  // A job that was cancelled while it waited never ran, although GitHub gives it a start.
  if ('ignored' in place || job.runnerName === null) return undefined;
  const isEnd = job.status === 'completed';
  return {
    jobId: job.jobId,
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
