import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { findSnapshotRivals } from '@paddock/domain/matching/plan-pass';
import { EMPTY_SNAPSHOT, lackingOf, type Snapshot } from '@paddock/domain/matching/snapshot';
import type { RawBuilder } from 'kysely';
import { type DemandTotals, findDemand } from './demand.ts';
import { findReservations, findReturnableWorkers, findSpareKeys } from './spare-workers.ts';
import { findStoredRules } from './stored-rules.ts';
import { findJobTimes, findWarmKeys } from './reserve-workers.ts';
import { rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import type { LiveWorkers } from '@paddock/domain/matching/share-room';
import { prepared } from '../connection/prepared.ts';
import { LIVE, STOPPING } from '../states/states.ts';

/** Reads what a pass may need, each thing once. Writes nothing. */
export async function readSnapshot(
  trx: Trx,
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

const countWorkers = (db: Db, state: RawBuilder<boolean>) => rowsOf<LiveWorkers>(db)`${prepared}
    select demand_key as "demandKey", entity_id as "entityId", scope_repo_id as "scopeRepoId", k8s_pool as pool, count(*) as alive
    from workers where ${state} group by demand_key, entity_id, scope_repo_id, k8s_pool`;

/** Live workers per key. Those that are stopping count in every cap until they have ended. */
export const countLiveWorkers = (db: Db): Promise<LiveWorkers[]> => countWorkers(db, LIVE);

/** Live workers per key whose end has been asked for. */
export const countStoppingWorkers = (db: Db): Promise<LiveWorkers[]> => countWorkers(db, STOPPING);
