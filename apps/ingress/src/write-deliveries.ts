import type { DeliveryToRecord } from '@paddock/db/deliveries/delivery-to-record';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import type { Database } from '@paddock/db/schema/tables';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { Kysely } from 'kysely';
import type { Pools } from './pools.ts';

/** No delivery can be judged yet: no pools document is known here. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** Stores batches, judged by the pools that are in force when they are written. */
export function createWriteDeliveries(db: Kysely<Database>, pools: Pools) {
  return async function writeDeliveries(batch: readonly DeliveryToRecord[]): Promise<readonly Outcome[]> {
    const current = pools.current();
    if (current === undefined) throw new NotReady('No pools document is loaded yet: PostgreSQL has not been reached since the start.');
    return recordDeliveries(db, batch, current);
  };
}
