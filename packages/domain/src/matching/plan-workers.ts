import { type Caps, type KeyDemand, capsOf } from './caps.ts';
import { type LiveWorkers, type Share, shareRoom, type Shortage } from './share-room.ts';
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
  const shortages = caps.open.map((key) =>
    shortageOf(key, jobTimes.get(key.demandKey) ?? [key.oldest]),
  );
  const shares = shareRoom({
    shortages,
    live,
    room: caps.room,
    weight: caps.weight,
    common: caps.common,
    most,
  });
  const allowed = {
    ofEntity: new Map<number, number>(),
    common: 0,
    ofPool: new Map<string, number>(),
  };
  for (const { demandKey, entityId, pool } of caps.open) {
    const count = shares.get(demandKey)?.allowed ?? 0;
    allowed.ofEntity.set(entityId, (allowed.ofEntity.get(entityId) ?? 0) + count);
    if (caps.common.has(entityId)) allowed.common += count;
    allowed.ofPool.set(pool, (allowed.ofPool.get(pool) ?? 0) + count);
  }
  const reasonFor = (key: KeyDemand, share: Share): WaitReason | null => {
    const { room } = caps;
    if (share.allowed >= key.lacking) return null;
    if ((allowed.ofEntity.get(key.entityId) ?? 0) >= room.entity(key.entityId)) {
      return caps.entityLimit(key.entityId).reason;
    }
    if (caps.common.has(key.entityId) && allowed.common >= room.common(key.entityId))
      return caps.commonLimit(key.entityId).reason;
    if ((allowed.ofPool.get(key.pool) ?? 0) >= room.pool(key.pool)) {
      return caps.poolLimit(key.pool).reason;
    }
    return share.allowed >= room.key(key) ? caps.keyReason(key) : null;
  };
  const heldBackBy = (reason: WaitReason | null, key: KeyDemand, share: Share): number => {
    const ofPool = caps.room.pool(key.pool) - (allowed.ofPool.get(key.pool) ?? 0);
    const ofKey = caps.room.key(key) - share.allowed;
    const ofCommon =
      caps.room.common(key.entityId) - (caps.common.has(key.entityId) ? allowed.common : 0);
    const ofEntity = caps.room.entity(key.entityId) - (allowed.ofEntity.get(key.entityId) ?? 0);
    const others = new Map<WaitReason | null, number[]>([
      ['at_entity_cap', [ofCommon, ofPool, ofKey]],
      ['at_common_cap', [ofEntity, ofPool, ofKey]],
      ['at_pool_cap', [ofKey]],
    ]).get(reason);
    return reason === null ? 0 : Math.min(key.lacking - share.allowed, ...(others ?? []));
  };
  return new Map(
    demand.map((key) => {
      const share = shares.get(key.demandKey) ?? { allowed: 0, made: 0 };
      const block = key.lacking > 0 ? caps.blocks.get(key.demandKey) : undefined;
      const waitReason = block ?? reasonFor(key, share);
      return [
        key.demandKey,
        {
          made: share.made,
          cap: caps.tightestCap(key),
          waitReason,
          heldBack: heldBackBy(waitReason, key, share),
        },
      ];
    }),
  );
}

const shortageOf = (
  { demandKey, entityId, scopeRepoId, pool, lacking }: KeyDemand,
  jobTimes: readonly number[],
): Shortage => ({
  demandKey,
  entityId,
  scopeRepoId,
  pool,
  lacking,
  jobTimes,
});

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
