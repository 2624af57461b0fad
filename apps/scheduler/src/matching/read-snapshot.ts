import { type DemandTotals, findDemand } from '@paddock/db/matching/demand';
import { countLiveWorkers, countStoppingWorkers } from '@paddock/db/matching/live-workers';
import { findReservations } from '@paddock/db/matching/reservations';
import { findReturnableWorkers, findSpareKeys } from '@paddock/db/matching/spare-workers';
import { findStoredRules } from '@paddock/db/matching/stored-rules';
import { findJobTimes } from '@paddock/db/matching/uncovered-jobs';
import {
  closeServedKeys,
  noteUnservedKeys,
  type UnservedKey,
} from '@paddock/db/matching/unserved-keys';
import { findWarmKeys, learnWarmRepositories } from '@paddock/db/matching/warm-workers';
import type { Database } from '@paddock/db/schema/tables';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { findSnapshotRivals } from '@paddock/domain/matching/plan-pass';
import { EMPTY_SNAPSHOT, lackingOf, type Snapshot } from '@paddock/domain/matching/snapshot';
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

/** Reads what this pass may need, each thing once. */
export async function readSnapshot(
  trx: Transaction<Database>,
  totals: DemandTotals,
  settings: MatchingSettings,
): Promise<Snapshot> {
  const { appIds, warmLifetimeMs: lifetimeMs } = settings;
  const demand = totals.keys > 0 ? await findDemand(trx, appIds) : [];
  const isLacking = demand.some((key) => lackingOf(key) > 0);
  const hasSupply = totals.hasReservations || totals.hasWarm || totals.spare > 0;
  if (demand.length === 0 && !hasSupply) return EMPTY_SNAPSHOT;
  const snapshot = {
    demand,
    rules: await findStoredRules(trx, settings),
    live: isLacking || hasSupply ? await countLiveWorkers(trx) : [],
    stopping: totals.spare > 0 ? await countStoppingWorkers(trx) : [],
    reservations: totals.hasReservations ? await findReservations(trx) : [],
    returnable: isLacking && totals.hasReturnable ? await findReturnableWorkers(trx) : [],
    spare: totals.spare > 0 ? await findSpareKeys(trx) : [],
    warm: totals.hasWarm ? await findWarmKeys(trx, { lifetimeMs, appIds }) : [],
    made: [],
  };
  return { ...snapshot, jobTimes: await findJobTimes(trx, findSnapshotRivals(snapshot)) };
}
