import type { DeliveryToRecord } from '@paddock/db/deliveries/delivery-to-record';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import type { Database } from '@paddock/db/schema/tables';
import { wantExtraPasses } from '@paddock/db/schedules/extra-passes';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { isOldDemand } from '@paddock/domain/jobs/old-delivery';
import { lookUpJobsTask } from '@paddock/domain/tasks/look-up-task';
import type { Kysely } from 'kysely';
import { type JobTimes, jobTimes } from './job-times.ts';
import type { Pools } from './pools.ts';

/** No delivery can be judged yet: no pools document is known here. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/**
 * Stores batches, judged by the pools that are in force when they are written, and has GitHub asked about new jobs whose delivery is old.
 * `onTimes` hears what was stored of the jobs' times.
 */
export function createWriteDeliveries(db: Kysely<Database>, pools: Pools, onTimes: (times: JobTimes) => void) {
  return async function writeDeliveries(batch: readonly DeliveryToRecord[]): Promise<readonly Outcome[]> {
    const current = pools.current();
    if (current === undefined)
      throw new NotReady(
        'No pools document is known yet: the scheduler has loaded none, or PostgreSQL has not been reached since the start.',
      );
    const outcomes = await recordDeliveries(db, batch, current);
    // Such a job is no demand before GitHub was asked, and somebody waits: not for the sweep's next tick.
    if (
      batch.some(({ parsed }, index) => parsed.kind === 'job' && outcomes[index] === 'job_stored' && isOldDemand(parsed.job, Date.now()))
    ) {
      await wantExtraPasses(db, { schedule: lookUpJobsTask.kind });
    }
    for (const [index, outcome] of outcomes.entries()) {
      const delivery = batch[index];
      const times = delivery === undefined ? undefined : jobTimes(current.document, delivery.parsed, outcome);
      if (times !== undefined) onTimes(times);
    }
    return outcomes;
  };
}
