import { blockedBy, commonAmong, entityRuleOf, type MatchingRules } from './matching-rules.ts';
import type { LiveWorkers } from './share-room.ts';
import type { WaitReason } from './wait-reasons.ts';
import { planMaking } from './plan-workers.ts';
import { type Snapshot, type SpareKey, spareOf, type WorkersToMake } from './snapshot.ts';

/** A key whose jobs wait for more workers than could be made. */
export interface HeldBack {
  readonly entityId: number;
  readonly pool: string;
  readonly reason: WaitReason;
  /** How many more would be made if the cap that the reason names had room. */
  readonly count: number;
}

export interface SpareWorkers {
  readonly keys: readonly SpareKey[];
  /** By key: how many are kept although no job waits. */
  readonly warm: ReadonlyMap<number, number>;
  readonly live: readonly LiveWorkers[];
  /** The live workers that leave anyway: they make room soon. */
  readonly stopping: readonly LiveWorkers[];
  readonly heldBack: readonly HeldBack[];
  readonly rules: MatchingRules;
}

/** How many spare workers of a key to stop. */
export interface SpareStops {
  readonly demandKey: number;
  readonly count: number;
  /**
   * How many of these are in the way: a job waits for their place under a cap, or more live than
   * the cap allows.
   */
  readonly inTheWay: number;
}

/**
 * The spare workers to stop: all beyond the warm ones, and as many warm ones as are in the way.
 * Never workers that waiting jobs can have.
 */
export function planSpareStops(given: SpareWorkers): SpareStops[] {
  const { keys, warm, rules } = given;
  if (keys.length === 0) return [];
  const capsOver = capsOf(given);
  const needed = countNeeded(given, capsOver);
  const inTheWay = (key: SpareKey): number =>
    Math.max(0, ...capsOver(key).map((cap) => needed.get(cap) ?? 0));
  const leaving = new Map<number, { count: number; inTheWay: number }>();
  const take = (key: SpareKey, count: number): void => {
    if (count <= 0) return;
    const so = leaving.get(key.demandKey) ?? { count: 0, inTheWay: 0 };
    leaving.set(key.demandKey, {
      count: so.count + count,
      inTheWay: so.inTheWay + Math.min(count, inTheWay(key)),
    });
    for (const cap of capsOver(key)) needed.set(cap, (needed.get(cap) ?? 0) - count);
  };
  const kept = (key: SpareKey): number =>
    blockedBy(rules, key) === undefined ? Math.min(key.spare, warm.get(key.demandKey) ?? 0) : 0;
  // Workers beyond the warm ones go first; then warm ones, as far as more room is needed.
  for (const key of keys) take(key, key.spare - kept(key));
  for (const key of keys) take(key, Math.min(kept(key), inTheWay(key)));
  return [...leaving].map(([demandKey, counts]) => Object.assign(counts, { demandKey }));
}

/** The caps in which a worker of a key counts. */
type CapsOver = (key: { demandKey: number; entityId: number; pool: string }) => readonly string[];

function capsOf({ keys, live, rules }: SpareWorkers): CapsOver {
  const common = commonAmong(rules, keys, live);
  return ({ demandKey, entityId, pool }) => [
    `entity ${entityId}`,
    `pool ${pool}`,
    `key ${demandKey}`,
    ...(common.has(entityId) ? ['common'] : []),
  ];
}

/** By cap: how many more workers must stop for waiting jobs; negative: there is room. */
function countNeeded(
  { keys, live, stopping, heldBack, rules }: SpareWorkers,
  capsOver: CapsOver,
): Map<string, number> {
  const needed = new Map<string, number>();
  const add = (cap: string, count: number): void =>
    void needed.set(cap, (needed.get(cap) ?? 0) + count);
  // A key that is held back by a cap of its own has no spare workers.
  for (const { entityId, pool, reason, count } of heldBack) {
    if (reason === 'at_entity_cap') add(`entity ${entityId}`, count);
    if (reason === 'at_common_cap') add('common', count);
    if (reason === 'at_pool_cap') add(`pool ${pool}`, count);
  }
  for (const [sign, workers] of [[1, live] as const, [-1, stopping] as const]) {
    for (const { entityId, pool, demandKey, alive } of workers) {
      for (const cap of capsOver({ demandKey, entityId, pool })) add(cap, sign * alive);
    }
  }
  const sizes = new Map<string, number>([['common', rules.common?.cap ?? Infinity]]);
  for (const key of keys) {
    const { entityId, pool, demandKey, scopeRepoId } = key;
    const rule = rules.pools.get(pool);
    const write = (cap: string, size: number | null | undefined) =>
      void sizes.set(cap, size ?? Infinity);
    write(`entity ${entityId}`, entityRuleOf(rules, key)?.cap);
    write(`pool ${pool}`, rule?.cap);
    write(`key ${demandKey}`, scopeRepoId === 0 ? null : rule?.repositoryCap);
  }
  // What waits fits in when what lives and what waits are together as many as the cap.
  for (const [cap, count] of needed) needed.set(cap, count - (sizes.get(cap) ?? Infinity));
  return needed;
}

/** Reasons that hold back all keys of an entity, and all of a pool. */
const OF_ENTITY: ReadonlySet<WaitReason> = new Set([
  'at_entity_cap',
  'github_budget',
  'installation_refused',
  'installation_gone',
]);
const OF_POOL: ReadonlySet<WaitReason> = new Set(['at_pool_cap', 'no_capacity']);

/** Whether a job waits for the place of a warm worker: then none is made. */
export const isWantedByJobs = (
  heldBack: readonly HeldBack[],
  { entityId, pool }: { entityId: number; pool: string },
): boolean =>
  heldBack.some(
    (held) =>
      (held.entityId === entityId && OF_ENTITY.has(held.reason)) ||
      (held.pool === pool && OF_POOL.has(held.reason)),
  );

/** How the configuration gets the idle workers that it wants. */
export interface WarmPlan {
  /** How many spare workers of a key are to be marked as warm, those that are already included. */
  readonly mark: readonly { readonly demandKey: number; readonly count: number }[];
  /** Names of marked workers that are too old and end. */
  readonly renew: readonly string[];
  readonly make: readonly WorkersToMake[];
}

/** A tenth of the warm workers of a key may be replaced at a time, and one always. */
const RENEWED_AT_ONCE = 10;

/**
 * Marks spare workers, replaces old ones by new ones a few at a time, and makes the missing ones:
 * as far as caps allow, `most` at most, and only where no job waits for the same place.
 */
export function planWarm(
  snapshot: Snapshot,
  heldBack: readonly HeldBack[],
  most: number,
): WarmPlan {
  const keys = snapshot.warm.map((key) => {
    const renew = key.aged.slice(
      0,
      Math.max(0, Math.ceil(key.wanted / RENEWED_AT_ONCE) - key.renewing),
    );
    const spare = spareOf(key);
    return {
      ...key,
      renew,
      kept: Math.min(key.wanted, spare),
      lacking: key.wanted - spare + renew.length,
      oldest: 0,
    };
  });
  const wanting = keys.filter((key) => key.lacking > 0 && !isWantedByJobs(heldBack, key));
  return {
    mark: keys.flatMap(({ demandKey, kept, marked }) =>
      kept > marked ? [{ demandKey, count: kept }] : [],
    ),
    renew: keys.flatMap(({ renew }) => renew),
    make: most > 0 ? planMaking({ ...snapshot, jobTimes: new Map() }, wanting, most).make : [],
  };
}
