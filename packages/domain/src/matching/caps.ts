import {
  entityInPool,
  blockedBy,
  commonAmong,
  entityRuleOf,
  failuresOf,
  type MatchingRules,
  type OpenBreaker,
  type Place,
  trialsOf,
} from './matching-rules.ts';
import type { LiveWorkers, Room } from './share-room.ts';
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

/** How many more workers something allows, and why not more. */
interface Limit {
  readonly room: number;
  readonly reason: WaitReason | null;
}

/** The caps over some demand, with the rest of each. */
export type Caps = ReturnType<typeof capsOf>;

/**
 * The room that the rules leave beside the workers that live. `blocks` says where nothing may be
 * made, and why.
 */
export function capsOf(
  demand: readonly KeyDemand[],
  live: readonly LiveWorkers[],
  rules: MatchingRules,
) {
  const ofEntity = sumBy(live, ({ entityId }) => entityId);
  const ofPool = sumBy(live, ({ pool }) => pool);
  const ofKey = sumBy(live, ({ demandKey }) => demandKey);
  const blocks = new Map(
    demand.map((key) => [
      key.demandKey,
      blockedBy(rules, key) ?? failureBlock(rules) ?? budgetBlock(key, rules),
    ]),
  );
  const open = demand.filter(
    ({ demandKey, lacking }) => lacking > 0 && blocks.get(demandKey) === undefined,
  );
  const logins = new Map(demand.map(({ entityId, login }) => [entityId, login]));
  const entityRule = remembered((entityId: number) =>
    entityRuleOf(rules, { entityId, login: logins.get(entityId) ?? '' }),
  );
  const budgets = new Map<number, number>();
  for (const { entityId, installationId } of open) {
    budgets.set(
      entityId,
      Math.min(
        budgets.get(entityId) ?? Infinity,
        rules.budgets.get(installationId) ?? rules.usualBudget,
      ),
    );
  }
  const entityLimit = remembered((entityId: number) =>
    tightest([
      { room: left(entityRule(entityId)?.cap, ofEntity.get(entityId)), reason: 'at_entity_cap' },
      { room: budgets.get(entityId) ?? Infinity, reason: 'github_budget' },
      limitOf(rules.breakers.entities.get(entityId)),
    ]),
  );
  const common = commonAmong(rules, demand, live);
  const commonAlive = live.reduce(
    (sum, { entityId, alive }) => sum + (common.has(entityId) ? alive : 0),
    0,
  );
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
  const entityInPoolLimit = (place: Pick<KeyDemand, 'entityId' | 'pool'>): Limit => {
    const { room, reason } = limitOf(rules.breakers.entitiesInPools.get(entityInPool(place)));
    return { room: Math.min(room, trialsOf(rules, place) ?? Infinity), reason };
  };
  const repositoryCap = ({
    scopeRepoId,
    pool,
  }: Pick<KeyDemand, 'scopeRepoId' | 'pool'>): number | null =>
    scopeRepoId === 0 ? null : (rules.pools.get(pool)?.repositoryCap ?? null);
  const keyLimit = (key: Pick<KeyDemand, 'demandKey' | 'scopeRepoId' | 'pool'>): Limit =>
    tightest([
      { room: left(repositoryCap(key), ofKey.get(key.demandKey)), reason: 'at_repository_cap' },
      limitOf(rules.breakers.keys.get(key.demandKey)),
      limitOf(rules.breakers.repositories.get(key.scopeRepoId)),
    ]);
  const room: Room = {
    entity: (entityId) => entityLimit(entityId).room,
    common: (entityId) => commonLimit(entityId).room,
    pool: (pool) => poolLimit(pool).room,
    entityInPool: (place) => entityInPoolLimit(place).room,
    key: (key) => keyLimit(key).room,
  };
  const tightestCap = (key: KeyDemand): number | null => {
    const ofAll = common.has(key.entityId) ? rules.common?.cap : undefined;
    const caps = [
      entityRule(key.entityId)?.cap,
      ofAll,
      rules.pools.get(key.pool)?.cap,
      repositoryCap(key),
    ].filter((cap) => typeof cap === 'number');
    return caps.length === 0 ? null : Math.min(...caps);
  };
  const weight = (entityId: number): number => entityRule(entityId)?.weight ?? 1;
  const failures = (place: Pick<KeyDemand, 'entityId' | 'pool'>): number =>
    failuresOf(rules, place);
  const sharesAsOne = {
    has: (entityId: number) => common.has(entityId),
    weight: rules.common?.weight ?? 1,
  };
  return {
    open,
    blocks,
    room,
    common: sharesAsOne,
    entityLimit,
    commonLimit,
    poolLimit,
    entityInPoolLimit,
    keyLimit,
    tightestCap,
    weight,
    failures,
  };
}

const failureBlock = ({ breakers: { everywhere } }: MatchingRules): WaitReason | undefined =>
  everywhere?.trials === 0 ? everywhere.reason : undefined;

const budgetBlock = (
  { installationId }: KeyDemand,
  { budgets }: MatchingRules,
): WaitReason | undefined => (budgets.get(installationId) === 0 ? 'github_budget' : undefined);

/** Each answer is found once: thousands of keys ask for a few entities and pools. */
function remembered<K, V>(find: (key: K) => V): (key: K) => V {
  const known = new Map<K, { readonly value: V }>();
  return (key) => {
    const found = known.get(key) ?? { value: find(key) };
    known.set(key, found);
    return found.value;
  };
}

/** On a tie the first. */
const tightest = (limits: readonly Limit[]): Limit =>
  limits.reduce((tight, limit) => (limit.room < tight.room ? limit : tight));

const limitOf = (breaker: OpenBreaker | undefined): Limit =>
  breaker === undefined
    ? { room: Infinity, reason: null }
    : { room: breaker.trials, reason: breaker.reason };

const left = (cap: number | null | undefined, used = 0): number =>
  typeof cap === 'number' ? Math.max(0, cap - used) : Infinity;

function sumBy<K>(
  live: readonly LiveWorkers[],
  keyOf: (workers: LiveWorkers) => K,
): ReadonlyMap<K, number> {
  const sums = new Map<K, number>();
  for (const workers of live)
    sums.set(keyOf(workers), (sums.get(keyOf(workers)) ?? 0) + workers.alive);
  return sums;
}
