import { pickUnwanted } from '@paddock/domain/pick-unwanted';
import { capsOf, findRivals, planWorkers } from '@paddock/domain/plan-workers';
import type { LiveWorkers } from '@paddock/domain/share-room';
import type { Transaction } from 'kysely';
import { findDemand, findJobTimes, sumUpDemand } from './demand.ts';
import { forgetRestingKeys, type KeyState, saveKeyStates } from './demand-keys.ts';
import { countLiveWorkers } from './live-workers.ts';
import { type MatchingSettings, findMatchingRules } from './matching-rules.ts';
import { type ReservedWorker, reserveWorkers } from './reserve-workers.ts';
import type { Database } from './tables.ts';
import { findUnregisteredWorkers, giveBackWorkers } from './unregistered-workers.ts';

export interface MatchedDemand {
  /** Names of the reservations that ended. */
  readonly ended: readonly string[];
  readonly reserved: readonly ReservedWorker[];
  /** Workers that waiting jobs still lack; `demand_keys` says why. */
  readonly lacking: number;
  /** The pass made as many as it may: the next one finds what is left over. */
  readonly hasMore: boolean;
}

export interface MatchingOptions extends MatchingSettings {
  /** Workers that one pass makes at most; without it what keeps the transaction short. */
  readonly most?: number;
}

/** Keeps the transaction short: 13 000 in one took 7 s on a busy machine, and all other matchers wait meanwhile. */
const MOST_PER_PASS = 1_000;

/**
 * Compares demand with supply and writes what follows (C2, C3, C4): reservations that became too many end, the workers that waiting jobs
 * lack are reserved as far as caps allow, and `demand_keys` says of each key what was seen and why nothing more was made. Jobs are read,
 * never written. Call it after `lockMatching`, in the same READ COMMITTED transaction.
 */
export async function matchDemand(
  trx: Transaction<Database>,
  { most = MOST_PER_PASS, ...settings }: MatchingOptions,
): Promise<MatchedDemand> {
  const totals = await sumUpDemand(trx);
  const ended = totals.hasUnregistered ? await giveBack(trx, settings) : [];
  const reserved = totals.keys > 0 ? await reserve(trx, { most, ...settings }) : [];
  if (totals.hasStored) await forgetRestingKeys(trx);
  return { ended, reserved, lacking: Math.max(0, totals.lacking - reserved.length), hasMore: reserved.length >= most };
}

async function giveBack(trx: Transaction<Database>, settings: MatchingSettings): Promise<string[]> {
  const unwanted = pickUnwanted(await findUnregisteredWorkers(trx), await countLiveWorkers(trx), await findMatchingRules(trx, settings));
  return giveBackWorkers(
    trx,
    unwanted.map(({ podName }) => podName),
  );
}

async function reserve(trx: Transaction<Database>, { most, ...settings }: Required<MatchingOptions>): Promise<ReservedWorker[]> {
  const demand = await findDemand(trx);
  if (demand.length === 0) return [];
  const isLacking = demand.some(({ lacking }) => lacking > 0);
  const live: LiveWorkers[] = isLacking ? await countLiveWorkers(trx) : [];
  const rules = await findMatchingRules(trx, settings);
  const caps = capsOf(demand, live, rules);
  const jobTimes = await findJobTimes(trx, findRivals(caps));
  const plans = planWorkers(demand, live, { caps, jobTimes, most: Math.min(most, rules.breakers.everywhere?.trials ?? most) });
  const wanted = [...plans].filter(([, { made }]) => made > 0).map(([demandKey, { made }]) => ({ demandKey, count: made }));
  const reserved = await reserveWorkers(trx, wanted);
  const made = Map.groupBy(reserved, ({ demandKey }) => demandKey);
  const states = demand.flatMap((key) => {
    const { waitReason = null, cap = null } = plans.get(key.demandKey) ?? {};
    const state = { ...key, unassigned: key.unassigned + (made.get(key.demandKey)?.length ?? 0), waitReason, cap };
    return isStored(state, key.stored) ? [] : [state];
  });
  await saveKeyStates(trx, states);
  return reserved;
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
