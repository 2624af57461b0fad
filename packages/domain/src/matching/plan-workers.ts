import {
  accountInPool,
  blockedBy,
  commonAmong,
  entityRuleOf,
  failuresOf,
  type MatchingRules,
  type OpenBreaker,
  type Place,
  standingOf,
} from './matching-rules.ts';
import { type LiveWorkers, type Room, type Share, shareRoom, type Shortage } from './share-room.ts';
import type { WaitReason } from './wait-reasons.ts';

/** Demand and supply of one key. */
export interface KeyDemand extends Place {
  readonly demandKey: number;
  readonly scopeRepoId: number;
  readonly installationId: number;
  /** Workers that its waiting jobs lack; 0 is possible. */
  readonly lacking: number;
  /** When its oldest waiting job became known, in seconds. */
  readonly oldest: number;
}

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

/** How many more workers something allows, and why not more. */
interface Limit {
  readonly room: number;
  readonly reason: WaitReason | null;
}

/** The caps over some demand, with what is left of them. */
export type Caps = ReturnType<typeof capsOf>;

/** The room that the rules leave beside the workers that live. `blocks` says where nothing may be made, and why. */
export function capsOf(demand: readonly KeyDemand[], live: readonly LiveWorkers[], rules: MatchingRules) {
  const ofEntity = sumBy(live, ({ entityId }) => entityId);
  const ofPool = sumBy(live, ({ pool }) => pool);
  const ofKey = sumBy(live, ({ demandKey }) => demandKey);
  const blocks = new Map(demand.map((key) => [key.demandKey, blockedBy(rules, key) ?? failureBlock(rules) ?? budgetBlock(key, rules)]));
  const open = demand.filter(({ demandKey, lacking }) => lacking > 0 && blocks.get(demandKey) === undefined);
  const logins = new Map(demand.map(({ entityId, login }) => [entityId, login]));
  const entityRule = remembered((entityId: number) => entityRuleOf(rules, { entityId, login: logins.get(entityId) ?? '' }));
  const budgets = new Map<number, number>();
  for (const { entityId, installationId } of open) {
    budgets.set(entityId, Math.min(budgets.get(entityId) ?? Infinity, rules.budgets.get(installationId) ?? rules.usualBudget));
  }
  const entityLimit = remembered((entityId: number) =>
    tightest([
      { room: left(entityRule(entityId)?.cap, ofEntity.get(entityId)), reason: 'at_entity_cap' },
      { room: budgets.get(entityId) ?? Infinity, reason: 'github_budget' },
      limitOf(rules.breakers.entities.get(entityId)),
    ]),
  );
  const common = commonAmong(rules, demand, live);
  const commonAlive = live.reduce((sum, { entityId, alive }) => sum + (common.has(entityId) ? alive : 0), 0);
  const commonLimit = (entityId: number): Limit => {
    const cap = common.has(entityId) ? rules.common?.cap : undefined;
    return { room: left(cap, commonAlive), reason: 'at_common_cap' };
  };
  const poolLimit = remembered((pool: string) =>
    tightest([
      { room: left(rules.pools.get(pool)?.cap, ofPool.get(pool)), reason: 'at_pool_cap' },
      { room: rules.pools.get(pool)?.trials ?? Infinity, reason: 'no_capacity' },
      limitOf(rules.breakers.pools.get(pool)),
    ]),
  );
  const accountLimit = (place: Pick<KeyDemand, 'entityId' | 'pool'>): Limit => {
    const { room, reason } = limitOf(rules.breakers.accounts.get(accountInPool(place)));
    return { room: Math.min(room, standingOf(rules, place) ?? Infinity), reason };
  };
  const repositoryCap = ({ scopeRepoId, pool }: Pick<KeyDemand, 'scopeRepoId' | 'pool'>): number | null =>
    scopeRepoId === 0 ? null : (rules.pools.get(pool)?.repositoryCap ?? null);
  const keyLimit = (key: Pick<KeyDemand, 'demandKey' | 'scopeRepoId' | 'pool'>): Limit =>
    tightest([
      { room: left(repositoryCap(key), ofKey.get(key.demandKey)), reason: 'at_repository_cap' },
      { room: rules.openGroups.get(key.demandKey) ?? Infinity, reason: 'runner_group_open' },
      { room: rules.unserved.get(key.demandKey) ?? Infinity, reason: 'github_does_not_assign' },
      limitOf(rules.breakers.repositories.get(key.scopeRepoId)),
    ]);
  const room: Room = {
    entity: (entityId) => entityLimit(entityId).room,
    common: (entityId) => commonLimit(entityId).room,
    pool: (pool) => poolLimit(pool).room,
    accountInPool: (place) => accountLimit(place).room,
    key: (key) => keyLimit(key).room,
  };
  const tightestCap = (key: KeyDemand): number | null => {
    const ofAll = common.has(key.entityId) ? rules.common?.cap : undefined;
    const caps = [entityRule(key.entityId)?.cap, ofAll, rules.pools.get(key.pool)?.cap, repositoryCap(key)].filter(
      (cap) => typeof cap === 'number',
    );
    return caps.length === 0 ? null : Math.min(...caps);
  };
  const weight = (entityId: number): number => entityRule(entityId)?.weight ?? 1;
  const failures = (place: Pick<KeyDemand, 'entityId' | 'pool'>): number => failuresOf(rules, place);
  const sharesAsOne = { has: (entityId: number) => common.has(entityId), weight: rules.common?.weight ?? 1 };
  return {
    open,
    blocks,
    room,
    common: sharesAsOne,
    entityLimit,
    commonLimit,
    poolLimit,
    accountLimit,
    keyLimit,
    tightestCap,
    weight,
    failures,
  };
}

/**
 * The keys whose jobs compete for the room of their account, with how many of their jobs may get some. There the age of each job counts, not
 * only that of the oldest.
 */
export function findRivals({ open, room }: Caps): { demandKey: number; count: number }[] {
  return [...Map.groupBy(open, ({ entityId }) => entityId)].flatMap(([entityId, keys]) => {
    const bound = Math.min(room.entity(entityId), room.common(entityId));
    const asked = keys.map((key) => ({ demandKey: key.demandKey, count: Math.min(key.lacking, room.key(shortageOf(key, [])), bound) }));
    const isTight = keys.length > 1 && asked.reduce((sum, { count }) => sum + count, 0) > bound;
    return isTight ? asked.filter(({ count }) => count > 0) : [];
  });
}

/** How many workers to make for each key, `most` at most together, and why not more. `jobTimes` has those of `findRivals`. */
export function planWorkers(
  demand: readonly KeyDemand[],
  live: readonly LiveWorkers[],
  { caps, jobTimes, most }: { caps: Caps; jobTimes: ReadonlyMap<number, readonly number[]>; most: number },
): ReadonlyMap<number, KeyPlan> {
  const shortages = caps.open.map((key) => shortageOf(key, jobTimes.get(key.demandKey) ?? [key.oldest]));
  const shares = shareRoom({ shortages, live, room: caps.room, weight: caps.weight, common: caps.common, failures: caps.failures, most });
  const allowed = {
    ofEntity: new Map<number, number>(),
    common: 0,
    ofPool: new Map<string, number>(),
    ofAccount: new Map<string, number>(),
  };
  for (const { demandKey, entityId, pool } of caps.open) {
    const count = shares.get(demandKey)?.allowed ?? 0;
    const account = accountInPool({ pool, entityId });
    allowed.ofEntity.set(entityId, (allowed.ofEntity.get(entityId) ?? 0) + count);
    if (caps.common.has(entityId)) allowed.common += count;
    allowed.ofPool.set(pool, (allowed.ofPool.get(pool) ?? 0) + count);
    allowed.ofAccount.set(account, (allowed.ofAccount.get(account) ?? 0) + count);
  }
  const reasonFor = (key: KeyDemand, share: Share): WaitReason | null => {
    const { room } = caps;
    if (share.allowed >= key.lacking) return null;
    if ((allowed.ofEntity.get(key.entityId) ?? 0) >= room.entity(key.entityId)) {
      return caps.entityLimit(key.entityId).reason;
    }
    if (caps.common.has(key.entityId) && allowed.common >= room.common(key.entityId)) return caps.commonLimit(key.entityId).reason;
    if ((allowed.ofPool.get(key.pool) ?? 0) >= room.pool(key.pool)) {
      return caps.poolLimit(key.pool).reason;
    }
    const ofAccount = caps.accountLimit(key);
    if ((allowed.ofAccount.get(accountInPool(key)) ?? 0) >= ofAccount.room) return ofAccount.reason;
    const { room: ofKey, reason } = caps.keyLimit(key);
    return share.allowed >= ofKey ? reason : null;
  };
  const heldBackBy = (reason: WaitReason | null, key: KeyDemand, share: Share): number => {
    const ofPool = caps.room.pool(key.pool) - (allowed.ofPool.get(key.pool) ?? 0);
    const ofAccount = caps.accountLimit(key).room - (allowed.ofAccount.get(accountInPool(key)) ?? 0);
    const ofKey = Math.min(ofAccount, caps.keyLimit(key).room - share.allowed);
    const ofCommon = caps.room.common(key.entityId) - (caps.common.has(key.entityId) ? allowed.common : 0);
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
      return [key.demandKey, { made: share.made, cap: caps.tightestCap(key), waitReason, heldBack: heldBackBy(waitReason, key, share) }];
    }),
  );
}

const failureBlock = ({ breakers: { everywhere } }: MatchingRules): WaitReason | undefined =>
  everywhere?.trials === 0 ? everywhere.reason : undefined;

const budgetBlock = ({ installationId }: KeyDemand, { budgets }: MatchingRules): WaitReason | undefined =>
  budgets.get(installationId) === 0 ? 'github_budget' : undefined;

const shortageOf = ({ demandKey, entityId, scopeRepoId, pool, lacking }: KeyDemand, jobTimes: readonly number[]): Shortage => ({
  demandKey,
  entityId,
  scopeRepoId,
  pool,
  lacking,
  jobTimes,
});

/** Each answer is found once: thousands of keys ask for a few accounts and pools. */
function remembered<K, V>(find: (key: K) => V): (key: K) => V {
  const known = new Map<K, { readonly value: V }>();
  return (key) => {
    const found = known.get(key) ?? { value: find(key) };
    known.set(key, found);
    return found.value;
  };
}

/** On a tie the first. */
const tightest = (limits: readonly Limit[]): Limit => limits.reduce((tight, limit) => (limit.room < tight.room ? limit : tight));

const limitOf = (breaker: OpenBreaker | undefined): Limit =>
  breaker === undefined ? { room: Infinity, reason: null } : { room: breaker.trials, reason: breaker.reason };

const left = (cap: number | null | undefined, used = 0): number => (typeof cap === 'number' ? Math.max(0, cap - used) : Infinity);

function sumBy<K>(live: readonly LiveWorkers[], keyOf: (workers: LiveWorkers) => K): ReadonlyMap<K, number> {
  const sums = new Map<K, number>();
  for (const workers of live) sums.set(keyOf(workers), (sums.get(keyOf(workers)) ?? 0) + workers.alive);
  return sums;
}
