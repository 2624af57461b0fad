import {
  blockedBy,
  commonAmong,
  entityRuleOf,
  failingLimit,
  type Limit,
  type MatchingRules,
  nodeLimit,
  type Place,
  suspicionLimit,
  toldLimit,
} from './matching-rules.ts';
import { countBy, type LiveWorkers, type Room } from './share-room.ts';
import type { WaitReason } from './wait-reasons.ts';

/** Demand and supply of one key. */
export interface KeyDemand extends Place {
  readonly installationId: number;
  /** Workers that its waiting jobs lack; 0 is possible. */
  readonly lacking: number;
  /** Workers without a job. */
  readonly unassigned: number;
  /** When its oldest waiting job became known, in seconds. */
  readonly oldest: number;
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
  const ofEntity = countBy(live, ({ entityId }) => entityId);
  const ofPool = countBy(live, ({ pool }) => pool);
  const ofKey = countBy(live, ({ demandKey }) => demandKey);
  const blocks = new Map(
    demand.map((key) => [
      key.demandKey,
      blockedBy(rules, key) ?? rules.away ?? budgetBlock(key, rules),
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
      toldLimit(rules.told.entities.get(entityId)),
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
  const poolLimit = remembered((pool: string): Limit => ({
    room: left(rules.pools.get(pool)?.cap, ofPool.get(pool)),
    reason: 'at_pool_cap',
  }));
  const repositoryCap = ({ scopeRepoId, pool }: KeyDemand): number | null =>
    scopeRepoId === 0 ? null : (rules.pools.get(pool)?.repositoryCap ?? null);
  const keyLimit = (key: KeyDemand): Limit =>
    tightest([
      ...[failingLimit(rules, key), suspicionLimit(rules, key)].map(({ room, reason }) => ({
        room: left(room, key.unassigned),
        reason,
      })),
      { room: left(repositoryCap(key), ofKey.get(key.demandKey)), reason: 'at_repository_cap' },
      toldLimit(rules.told.repositories.get(key.scopeRepoId)),
      nodeLimit(rules, key),
    ]);
  const keyLimits = new Map(open.map((key) => [key.demandKey, keyLimit(key)]));
  const room: Room = {
    entity: (entityId) => entityLimit(entityId).room,
    common: (entityId) => commonLimit(entityId).room,
    pool: (pool) => poolLimit(pool).room,
    key: ({ demandKey }) => keyLimits.get(demandKey)?.room ?? Infinity,
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
    keyReason: ({ demandKey }: KeyDemand) => keyLimits.get(demandKey)?.reason ?? null,
    tightestCap,
    weight,
  };
}

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

const left = (cap: number | null | undefined, used = 0): number =>
  typeof cap === 'number' ? Math.max(0, cap - used) : Infinity;
