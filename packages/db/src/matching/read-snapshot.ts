import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { findSnapshotRivals } from '@paddock/domain/matching/plan-pass';
import { EMPTY_SNAPSHOT, lackingOf, type Snapshot } from '@paddock/domain/matching/snapshot';
import type { Transaction } from 'kysely';
import { type DemandTotals, findDemand } from './demand.ts';
import { countLiveWorkers, countStoppingWorkers } from './live-workers.ts';
import { findReservations } from './reservations.ts';
import { findReturnableWorkers, findSpareKeys } from './spare-workers.ts';
import { findStoredRules } from './stored-rules.ts';
import { findJobTimes } from './uncovered-jobs.ts';
import { findWarmKeys } from './warm-workers.ts';
import type { Database } from '../schema/tables.ts';

/** Reads what a pass may need, each thing once. Writes nothing. */
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
  };
  return { ...snapshot, jobTimes: await findJobTimes(trx, findSnapshotRivals(snapshot)) };
}
