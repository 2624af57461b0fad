import { type HeldBack, isWantedByJobs, type Leaving, planLeaving } from '@paddock/domain/matching/plan-spare';
import { capsOf, type KeyDemand, planWorkers } from '@paddock/domain/matching/plan-workers';
import type { Transaction } from 'kysely';
import { countLiveWorkers } from './live-workers.ts';
import { type MatchingSettings, findMatchingRules } from './matching-rules.ts';
import type { ReservedWorker } from './reserve-workers.ts';
import { countStoppingWorkers, findSpareKeys, retireAgedWarmWorkers, type RetiredWorker, retireWorkers } from './spare-workers.ts';
import type { Database } from '../schema/tables.ts';
import { findUnregisteredWorkers, giveBackWorkers } from './unregistered-workers.ts';
import { findWarmKeys, learnWarmRepositories, markWarm, reserveWarmWorkers, type WarmKey } from './warm-workers.ts';

/**
 * Asks for the end of workers that neither jobs nor the configuration want (C3). Reservations that nobody has begun to register end here,
 * the newest first; then registered workers are retired, the oldest first.
 */
export async function retireSpare(
  trx: Transaction<Database>,
  { heldBack, warm, settings }: { heldBack: readonly HeldBack[]; warm: ReadonlyMap<number, number>; settings: MatchingSettings },
): Promise<{ ended: string[]; retired: RetiredWorker[] }> {
  const keys = await findSpareKeys(trx);
  if (keys.length === 0) return { ended: [], retired: [] };
  const [live, stopping, rules] = [await countLiveWorkers(trx), await countStoppingWorkers(trx), await findMatchingRules(trx, settings)];
  const leaving = planLeaving({ keys, warm, live, stopping, heldBack, rules });
  const ended = await giveBackFrom(trx, leaving);
  const left = leaving.map(({ demandKey, count, inTheWay }) => {
    const gone = ended.get(demandKey)?.length ?? 0;
    return { demandKey, count: count - gone, inTheWay: Math.max(0, inTheWay - gone) };
  });
  return { ended: [...ended.values()].flat(), retired: await retireWorkers(trx, left, settings) };
}

/** Of each key the newest reservations that nobody has begun to register. Returns their names by key. */
async function giveBackFrom(trx: Transaction<Database>, leaving: readonly Leaving[]): Promise<Map<number, string[]>> {
  if (leaving.length === 0) return new Map();
  const newestFirst = Map.groupBy(await findUnregisteredWorkers(trx), ({ demandKey }) => demandKey);
  const names = leaving.flatMap(({ demandKey, count }) => (newestFirst.get(demandKey) ?? []).slice(0, count));
  const ended = new Set(
    await giveBackWorkers(
      trx,
      names.map(({ podName }) => podName),
    ),
  );
  const gone = Map.groupBy(
    names.filter(({ podName }) => ended.has(podName)),
    ({ demandKey }) => demandKey,
  );
  return new Map([...gone].map(([demandKey, workers]) => [demandKey, workers.map(({ podName }) => podName)]));
}

/** By key, how many workers are kept warm. */
export async function findWarm(trx: Transaction<Database>, { warmLifetimeMs, appIds }: MatchingSettings): Promise<Map<number, number>> {
  await learnWarmRepositories(trx);
  const keys = await findWarmKeys(trx, { lifetimeMs: warmLifetimeMs, appIds });
  return new Map(keys.map(({ demandKey, wanted }) => [demandKey, wanted]));
}

/** Of the warm workers of a key a tenth may be renewed at a time, and one always. */
const RENEWED_AT_ONCE = 10;

/**
 * Keeps as many workers idle as the configuration wants (C10): spare ones are marked, aged ones make room for new ones a few at a time, and
 * what is missing is made, as far as caps allow and no job waits for the same.
 */
export async function keepWarm(
  trx: Transaction<Database>,
  { heldBack, settings, most }: { heldBack: readonly HeldBack[]; settings: MatchingSettings; most: number },
): Promise<{ retired: RetiredWorker[]; reserved: ReservedWorker[] }> {
  const keys = await findWarmKeys(trx, { lifetimeMs: settings.warmLifetimeMs, appIds: settings.appIds });
  const unmarked = keys.map(({ demandKey, wanted, spare, marked }) => ({ demandKey, count: Math.min(wanted, spare) - marked }));
  await markWarm(
    trx,
    unmarked.filter(({ count }) => count > 0),
  );
  const renewals = keys.map(({ demandKey, wanted, aged, renewing }) => {
    return { demandKey, count: Math.min(aged, Math.ceil(wanted / RENEWED_AT_ONCE) - renewing) };
  });
  const retired = await retireAgedWarmWorkers(
    trx,
    renewals.filter(({ count }) => count > 0),
    { lifetimeMs: settings.warmLifetimeMs },
  );
  const leaving = Map.groupBy(retired, ({ demandKey }) => demandKey);
  const missing = ({ demandKey, wanted, spare }: WarmKey) => wanted - spare + (leaving.get(demandKey)?.length ?? 0);
  const wanting = keys.flatMap((key) => (isWantedByJobs(heldBack, key) ? [] : [Object.assign({ lacking: missing(key), oldest: 0 }, key)]));
  return { retired, reserved: await reserveWarmWorkers(trx, await planWarm(trx, wanting, { settings, most })) };
}

/** How many of the missing warm workers the caps allow, after all that jobs have got. */
async function planWarm(
  trx: Transaction<Database>,
  keys: readonly (WarmKey & KeyDemand)[],
  { settings, most }: { settings: MatchingSettings; most: number },
): Promise<(WarmKey & { count: number })[]> {
  const demand = keys.filter(({ lacking }) => lacking > 0);
  if (demand.length === 0 || most <= 0) return [];
  const rules = await findMatchingRules(trx, settings);
  const live = await countLiveWorkers(trx);
  const caps = capsOf(demand, live, rules);
  const plans = planWorkers(demand, live, { caps, jobTimes: new Map(), most: Math.min(most, rules.breakers.everywhere?.trials ?? most) });
  return demand.map((key) => Object.assign({ count: plans.get(key.demandKey)?.made ?? 0 }, key)).filter(({ count }) => count > 0);
}
