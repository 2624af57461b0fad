import type { DeliveryToRecord } from '@paddock/db/deliveries/delivery-to-record';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import type { Database } from '@paddock/db/schema/tables';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { Kysely } from 'kysely';
import { type JobTimes, jobTimes } from './job-times.ts';
import type { Pools } from './pools.ts';

/** No delivery can be judged yet: no pools document is known here. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** Stores batches, judged by the pools that are in force when they are written. `onTimes` hears what was stored of the jobs' times. */
export function createWriteDeliveries(db: Kysely<Database>, pools: Pools, onTimes: (times: JobTimes) => void) {
  return async function writeDeliveries(batch: readonly DeliveryToRecord[]): Promise<readonly Outcome[]> {
    const current = pools.current();
    if (current === undefined)
      throw new NotReady(
        'No pools document is known yet: the scheduler has loaded none, or PostgreSQL has not been reached since the start.',
      );
    const outcomes = await recordDeliveries(db, batch, current);
    for (const [index, outcome] of outcomes.entries()) {
      const delivery = batch[index];
      const times = delivery === undefined ? undefined : jobTimes(current.document, delivery.parsed, outcome);
      if (times !== undefined) onTimes(times);
    }
    return outcomes;
  };
}
