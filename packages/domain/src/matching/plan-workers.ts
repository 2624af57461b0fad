import { type Caps, type KeyDemand, capsOf } from './caps.ts';
import { countBy, type LiveWorkers, shareRoom } from './share-room.ts';
import type { WaitReason } from './wait-reasons.ts';
import type { Snapshot, WorkersToMake } from './snapshot.ts';
import { rulesOf } from './stored-rules.ts';

/** How many workers to make for a key, and why not more. */
export interface KeyPlan {
  readonly made: number;
  /** Null: nothing is lacking, or more follows at once. */
  readonly waitReason: WaitReason | null;
  /** The tightest of the key's caps; null: it has none. */
  readonly cap: number | null;
  /** How many more would be made if the cap that the reason names had room. */
  readonly heldBack: number;
}

/**
 * The keys whose jobs compete for the room of their entity, with how many of their jobs may get
 * some. There the age of each job counts, not only that of the oldest.
 */
export function findRivals({ open, room }: Caps): { demandKey: number; count: number }[] {
  return [...Map.groupBy(open, ({ entityId }) => entityId)].flatMap(([entityId, keys]) => {
    const bound = Math.min(room.entity(entityId), room.common(entityId));
    const asked = keys.map((key) => ({
      demandKey: key.demandKey,
      count: Math.min(key.lacking, room.key(key), bound),
    }));
    const isTight = keys.length > 1 && asked.reduce((sum, { count }) => sum + count, 0) > bound;
    return isTight ? asked.filter(({ count }) => count > 0) : [];
  });
}

/**
 * How many workers to make for each key, `most` at most together, and why not more. `jobTimes` has
 * those of `findRivals`.
 */
export function planWorkers(
  demand: readonly KeyDemand[],
  live: readonly LiveWorkers[],
  {
    caps,
    jobTimes,
    most,
  }: { caps: Caps; jobTimes: ReadonlyMap<number, readonly number[]>; most: number },
): ReadonlyMap<number, KeyPlan> {
  const { open, room, weight, common } = caps;
  const shortages = open.map((key) =>
    Object.assign({}, key, { jobTimes: jobTimes.get(key.demandKey) ?? [key.oldest] }),
  );
  const shares = shareRoom({ shortages, live, room, weight, common, most });
  const allowed = open.map((key) =>
    Object.assign({}, key, { alive: shares.get(key.demandKey)?.allowed ?? 0 }),
  );
  const ofEntity = countBy(allowed, ({ entityId }) => entityId);
  const ofCommon = countBy(allowed, ({ entityId }) => common.has(entityId));
  const ofPool = countBy(allowed, ({ pool }) => pool);
  const planFor = (key: KeyDemand): KeyPlan => {
    const { demandKey, entityId, pool, lacking } = key;
    const share = shares.get(demandKey) ?? { allowed: 0, made: 0 };
    const left = {
      entity: room.entity(entityId) - (ofEntity.get(entityId) ?? 0),
      common: room.common(entityId) - (common.has(entityId) ? (ofCommon.get(true) ?? 0) : 0),
      pool: room.pool(pool) - (ofPool.get(pool) ?? 0),
      key: room.key(key) - share.allowed,
    };
    const reason = (): WaitReason | null => {
      if (share.allowed >= lacking) return null;
      if (left.entity <= 0) return caps.entityLimit(entityId).reason;
      if (left.common <= 0) return caps.commonLimit(entityId).reason;
      if (left.pool <= 0) return caps.poolLimit(pool).reason;
      return left.key <= 0 ? caps.keyReason(key) : null;
    };
    const block = lacking > 0 ? caps.blocks.get(demandKey) : undefined;
    const waitReason = block ?? reason();
    const others = new Map<WaitReason | null, number[]>([
      ['at_entity_cap', [left.common, left.pool, left.key]],
      ['at_common_cap', [left.entity, left.pool, left.key]],
      ['at_pool_cap', [left.key]],
    ]).get(waitReason);
    return {
      made: share.made,
      cap: caps.tightestCap(key),
      waitReason,
      heldBack: waitReason === null ? 0 : Math.min(lacking - share.allowed, ...(others ?? [])),
    };
  };
  return new Map(demand.map((key) => [key.demandKey, planFor(key)]));
}

/**
 * The workers to make for keys in the room that the snapshot leaves, `most` at most. `plans` says
 * of each key why not more.
 */
export function planMaking(
  snapshot: Snapshot,
  demand: readonly KeyDemand[],
  most: number,
): { make: WorkersToMake[]; plans: ReadonlyMap<number, KeyPlan> } {
  if (demand.length === 0) return { make: [], plans: new Map() };
  const { live, jobTimes } = snapshot;
  const caps = capsOf(demand, live, rulesOf(snapshot));
  const plans = planWorkers(demand, live, { caps, jobTimes, most });
  const make = demand.flatMap(({ demandKey, entityId, scopeRepoId, pool, installationId }) => {
    const count = plans.get(demandKey)?.made ?? 0;
    return count === 0 ? [] : [{ demandKey, entityId, scopeRepoId, pool, installationId, count }];
  });
  return { make, plans };
}
