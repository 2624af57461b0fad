import {
  askForMissingDeliveries,
  findRememberedDeliveries,
} from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { deliveredSince, type DeliveryAttempt, missingSince } from './judge-delivery-log.ts';
import { findUnstored } from './find-unstored.ts';

/**
 * A failover loses at most this many. More point to a restore, or to another endpoint in our place.
 */
export const FEW_MISSING = 100;

export interface MissingDeliveries {
  /** Deliveries that GitHub calls successful and our events lack, each counted once. */
  readonly missing: number;
  /** When the oldest was delivered, by GitHub's clock; only with more than `FEW_MISSING`. */
  readonly missingSince?: Date;
}

/**
 * Finds deliveries that GitHub calls successful since an instant and that our events lack. Marks
 * few for redelivery. Of many it only returns the instant for a `redeliver-since`. Skips deliveries
 * that are already marked.
 */
export async function findMissingDeliveries(
  {
    db,
    appId,
    events,
  }: { db: Kysely<Database>; appId: number; events: Pick<ReconcilerEvents, 'deliveredWithoutRow'> },
  attempts: readonly DeliveryAttempt[],
  since: Date,
): Promise<MissingDeliveries> {
  const unstored = await findUnstored(db, deliveredSince(attempts, since), { countsReplays: true });
  const remembered = await findRememberedDeliveries(db, appId, unstored);
  const lacking = new Set(unstored.filter((guid) => !remembered.has(guid)));
  if (lacking.size === 0) return { missing: 0 };
  const isFew = lacking.size <= FEW_MISSING;
  const missing = missingSince(attempts, (guid) => lacking.has(guid));
  if (isFew) await askForMissingDeliveries(db, appId, missing);
  events.deliveredWithoutRow(appId, [...lacking], { isFew });
  const oldest = Math.min(...missing.map(({ firstFailedAt }) => firstFailedAt.getTime()));
  return isFew
    ? { missing: lacking.size }
    : { missing: lacking.size, missingSince: new Date(oldest) };
}
