import { type DeliveryToRecord, recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import type { Database } from '@paddock/db/schema/tables';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { isOldDemand } from '@paddock/domain/jobs/merge-statement';
import { lookUpJobsTask } from '@paddock/domain/tasks/look-up-task';
import type { Kysely } from 'kysely';
import { type JobTimes, jobTimes } from './job-times.ts';
import type { Pools } from './pools.ts';

/** No delivery can be judged, because this process has read no pools document yet. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/**
 * Stores batches, judged by the pools in force at that moment. If a new job's delivery is old, it
 * asks for a look-up at GitHub. `onTimes` gets the times of the stored jobs.
 */
export function createWriteDeliveries(
  db: Kysely<Database>,
  pools: Pools,
  onTimes: (times: JobTimes) => void,
) {
  return async function writeDeliveries(
    batch: readonly DeliveryToRecord[],
  ): Promise<readonly Outcome[]> {
    const current = pools.current();
    if (current === undefined) {
      throw new NotReady(
        'No pools document is known: the scheduler has loaded none, or PostgreSQL was never reached since the start.',
      );
    }
    const outcomes = await recordDeliveries(db, batch, current);
    // Such a job is no demand until a look-up confirms it, so the look-up must not wait for its
    // sweep.
    const needsLookUp = ({ parsed }: DeliveryToRecord, index: number) =>
      parsed.kind === 'job' &&
      outcomes[index] === 'job_stored' &&
      isOldDemand(parsed.job, Date.now());
    if (batch.some(needsLookUp)) await wantExtraPasses(db, { schedule: lookUpJobsTask.kind });
    for (const [index, outcome] of outcomes.entries()) {
      const delivery = batch[index];
      const times =
        delivery === undefined ? undefined : jobTimes(current.document, delivery.parsed, outcome);
      if (times !== undefined) onTimes(times);
    }
    return outcomes;
  };
}
