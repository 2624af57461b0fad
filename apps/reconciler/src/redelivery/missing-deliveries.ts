import { askForMissingDeliveries, findRememberedDeliveries } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { deliveredSince, type DeliveryAttempt, missingSince } from './delivery-log.ts';
import { findUnstored } from './find-unstored.ts';

/** What a failover loses. More are lost by a restore, or because something answers in our place: then people should know before. */
export const FEW_MISSING = 100;

export interface MissingDeliveries {
  /** Deliveries that GitHub calls successful and that our events lack, counted once. */
  readonly missing: number;
  /** When the oldest of them was delivered, by GitHub's clock, if they are too many to be asked for at once. */
  readonly missingSince?: Date;
}

/**
 * Finds deliveries since an instant that GitHub calls successful and that our events lack. A few are asked for, until their rows are here;
 * many are told of, with the instant for a `redeliver-since`. What is being asked for already is not counted again.
 */
export async function findMissingDeliveries(
  { db, appId, events }: { db: Kysely<Database>; appId: number; events: Pick<ReconcilerEvents, 'deliveredWithoutRow'> },
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
  return isFew ? { missing: lacking.size } : { missing: lacking.size, missingSince: new Date(oldest) };
}
