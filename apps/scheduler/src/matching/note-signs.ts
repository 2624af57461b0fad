import type { DemandTotals } from '@paddock/db/matching/demand';
import {
  closeServedKeys,
  noteUnservedKeys,
  type UnservedKey,
} from '@paddock/db/matching/unserved-keys';
import { learnWarmRepositories } from '@paddock/db/matching/warm-workers';
import type { Database } from '@paddock/db/schema/tables';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import type { Transaction } from 'kysely';

/**
 * Stores the news from workers and jobs since the last pass. Returns the keys that GitHub has left
 * without jobs again.
 */
export async function noteSigns(
  trx: Transaction<Database>,
  totals: DemandTotals,
  settings: MatchingSettings,
): Promise<UnservedKey[]> {
  if (totals.hasServed) await closeServedKeys(trx);
  if (totals.hasWarm) await learnWarmRepositories(trx);
  return totals.hasBlamed ? await noteUnservedKeys(trx, settings) : [];
}
