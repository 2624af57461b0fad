import { pickUnwanted } from '@paddock/domain/matching/pick-unwanted';
import { capsOf, findRivals, planWorkers } from '@paddock/domain/matching/plan-workers';
import type { HeldBack } from '@paddock/domain/matching/plan-spare';
import type { LiveWorkers } from '@paddock/domain/matching/share-room';
import type { WaitReason } from '@paddock/domain/matching/wait-reasons';
import type { Transaction } from 'kysely';
import { type Demand, findDemand, sumUpDemand } from './demand.ts';
import { forgetRestingKeys, type KeyState, saveKeyStates } from './demand-keys.ts';
import { countLiveWorkers } from './live-workers.ts';
import { type MatchingSettings, findMatchingRules, reasonOf } from './matching-rules.ts';
import { findWarm, keepWarm, retireSpare } from './match-spare.ts';
import { type ReservedWorker, reserveWorkers } from './reserve-workers.ts';
import { type RetiredWorker, type TakenBack, takeBackWorkers } from './spare-workers.ts';
import type { Database } from '../schema/tables.ts';
import { findJobTimes } from './uncovered-jobs.ts';
import { findUnregisteredWorkers, giveBackWorkers } from './unregistered-workers.ts';
import { forgetServedKeys, noteUnservedKeys, type UnservedKey } from './unserved-keys.ts';

export interface MatchedDemand {
  /** Names of the reservations that ended. */
  readonly ended: readonly string[];
  /** Registered workers whose end is asked for: each needs the task that sees to it. */
  readonly retired: readonly RetiredWorker[];
  /** Workers that were to end and are in supply again. */
  readonly takenBack: readonly TakenBack[];
  /** For waiting jobs, and after them those that are kept warm. */
  readonly reserved: readonly ReservedWorker[];
  /** Keys that GitHub has left without jobs again, and for which no more are made for a while. */
  readonly unserved: readonly UnservedKey[];
  /** Workers that waiting jobs still lack; `demand_keys` says why. */
  readonly lacking: number;
  /** The pass made as many as it may: the next one finds what is left over. */
  readonly hasMore: boolean;
  /** As `DemandTotals` has them. */
  readonly nextPauseEndMs: number | null;
  readonly hasProbed: boolean;
}

export interface MatchingOptions extends MatchingSettings {
  /** Workers that one pass makes at most; without it what keeps the transaction short. */
  readonly most?: number;
}

/** Keeps the transaction short: 13 000 in one took 7 s on a busy machine, and all other matchers wait meanwhile. */
const MOST_PER_PASS = 1_000;

/**
 * Compares demand with supply and writes what follows (C2, C3, C4): reservations that became too many end, workers that became too many are
 * to end, those that waiting jobs lack are reserved as far as caps allow, and last those that are kept warm (C10). `demand_keys` says of
 * each key what was seen and why nothing more was made. Jobs are read, never written. Call it after `lockMatching`, in the same READ
 * COMMITTED transaction.
 */
export async function matchDemand(
  trx: Transaction<Database>,
  { most = MOST_PER_PASS, ...settings }: MatchingOptions,
): Promise<MatchedDemand> {
  const totals = await sumUpDemand(trx);
  const takenBack = totals.lacking > 0 && totals.hasReturnable ? await takeBackWorkers(trx) : [];
  if (totals.hasUnserved) await forgetServedKeys(trx);
  const unserved = totals.hasBlamed ? await noteUnservedKeys(trx, settings.unservedPauses) : [];
  const warm = totals.hasWarm ? await findWarm(trx, settings) : NO_WARM;
  const ended = totals.hasUnregistered ? await giveBack(trx, { warm, settings }) : [];
  const { reserved, heldBack } = totals.keys > 0 ? await reserve(trx, { most, ...settings }) : NOTHING;
  const spare = totals.spare > 0 ? await retireSpare(trx, { heldBack, warm, settings }) : { ended: [], retired: [] };
  const kept = totals.hasWarm ? await keepWarm(trx, { heldBack, settings, most: most - reserved.length }) : { retired: [], reserved: [] };
  if (totals.hasStored) await forgetRestingKeys(trx);
  return {
    ended: [...ended, ...spare.ended],
    retired: [...spare.retired, ...kept.retired],
    takenBack,
    reserved: [...reserved, ...kept.reserved],
    unserved,
    lacking: Math.max(0, totals.lacking - takenBack.length - reserved.length),
    hasMore: reserved.length + kept.reserved.length >= most,
    nextPauseEndMs: totals.nextPauseEndMs,
    hasProbed: totals.hasProbed,
  };
}

const NO_WARM: ReadonlyMap<number, number> = new Map();

interface Reserved {
  readonly reserved: readonly ReservedWorker[];
  readonly heldBack: readonly HeldBack[];
}

const NOTHING: Reserved = { reserved: [], heldBack: [] };

async function giveBack(
  trx: Transaction<Database>,
  { warm, settings }: { warm: ReadonlyMap<number, number>; settings: MatchingSettings },
): Promise<string[]> {
  const rules = await findMatchingRules(trx, settings);
  const unwanted = pickUnwanted(await findUnregisteredWorkers(trx), await countLiveWorkers(trx), { rules, warm });
  return giveBackWorkers(
    trx,
    unwanted.map(({ podName }) => podName),
  );
}

async function reserve(trx: Transaction<Database>, { most, ...settings }: Required<MatchingOptions>): Promise<Reserved> {
  const demand = await findDemand(trx, settings.appIds);
  if (demand.length === 0) return NOTHING;
  const isLacking = demand.some(({ lacking }) => lacking > 0);
  const live: LiveWorkers[] = isLacking ? await countLiveWorkers(trx) : [];
  const rules = await findMatchingRules(trx, settings);
  const caps = capsOf(demand, live, rules);
  const jobTimes = await findJobTimes(trx, findRivals(caps));
  const plans = planWorkers(demand, live, { caps, jobTimes, most: Math.min(most, rules.breakers.everywhere?.trials ?? most) });
  const wanted = [...plans].filter(([, { made }]) => made > 0).map(([demandKey, { made }]) => ({ demandKey, count: made }));
  const reserved = await reserveWorkers(trx, wanted, settings.appIds);
  const made = Map.groupBy(reserved, ({ demandKey }) => demandKey);
  const states = demand.flatMap((key) => {
    const { waitReason = null, cap = null } = plans.get(key.demandKey) ?? {};
    const unassigned = key.unassigned + (made.get(key.demandKey)?.length ?? 0);
    const state = { ...key, unassigned, waitReason: waitReason ?? delayOf(key), cap };
    return isStored(state, key.stored) ? [] : [state];
  });
  await saveKeyStates(trx, states);
  const heldBack = demand.flatMap(({ demandKey, entityId, pool }): HeldBack[] => {
    const { waitReason: reason = null, heldBack: count = 0 } = plans.get(demandKey) ?? {};
    return reason === null ? [] : [{ entityId, pool, reason, count }];
  });
  return { reserved, heldBack };
}

/** Why jobs wait longer than usual although nothing keeps workers from being made for them. */
function delayOf({ doubt, waiting, unassigned, lacking }: Demand): WaitReason | null {
  if (doubt !== null) return doubt.type === 'capacity' ? 'no_capacity' : reasonOf({ ...doubt, type: doubt.type });
  return waiting - unassigned > lacking ? 'unexplained_ends' : null;
}

function isStored(state: KeyState, stored: Pick<KeyState, 'waiting' | 'unassigned' | 'cap' | 'waitReason'> | null): boolean {
  return (
    stored !== null &&
    stored.waiting === state.waiting &&
    stored.unassigned === state.unassigned &&
    stored.cap === state.cap &&
    stored.waitReason === state.waitReason
  );
}
