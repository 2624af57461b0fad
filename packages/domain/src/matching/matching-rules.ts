import { isUnlisted, loginAmong, ruleAmong } from '../pools/entities.ts';
import { servesWithPin, servesRepository } from '../pools/gate.ts';
import { NO_POOL } from '../pools/place-job.ts';
import type { WaitReason } from './wait-reasons.ts';

/** A pool as matching needs it; a cap that is null does not bind. */
export interface PoolRule {
  readonly name: string;
  readonly paused: boolean;
  readonly cap: number | null;
  readonly repositoryCap: number | null;
  /** A person has stopped the making of workers here. */
  readonly stopped: boolean;
  /**
   * How many more workers may show whether nodes take them; null: nothing says that nodes are
   * short.
   */
  readonly trials: number | null;
  /** The entities whose jobs it serves; null: all. */
  readonly entities: readonly string[] | null;
  readonly repositories: readonly string[] | null;
}

/** The configuration of an entity. */
export interface EntityRule {
  readonly cap: number | null;
  readonly weight: number;
}

/** The common rule of all entities that only '*' admits. */
export interface CommonRule {
  readonly cap: number | null;
  /** They share a full pool like one entity of this weight. */
  readonly weight: number;
}

/**
 * An open breaker: how many more workers may be reserved under it, 1 until a reservation is the
 * trial.
 */
export interface OpenBreaker {
  readonly trials: 0 | 1;
  readonly reason: WaitReason;
}

/** The breaker of an entity in a pool. */
export interface EntityInPoolBreaker extends OpenBreaker {
  /** Its pause is not over: the next trial waits. */
  readonly isPaused: boolean;
}

export interface Breakers {
  /** GitHub's or the cluster's: it holds back everything. */
  readonly everywhere: OpenBreaker | undefined;
  readonly pools: ReadonlyMap<string, OpenBreaker>;
  /** By `entityInPool`. */
  readonly entitiesInPools: ReadonlyMap<string, EntityInPoolBreaker>;
  /**
   * By `entityInPool`, in pools that are held back: how many workers have failed since one
   * succeeded.
   */
  readonly failed: ReadonlyMap<string, number>;
  /** By entity. */
  readonly entities: ReadonlyMap<number, OpenBreaker>;
  /** By the repository at which workers register. */
  readonly repositories: ReadonlyMap<number, OpenBreaker>;
  /** By demand key: GitHub gives its workers no job, or its runner group lets in too much. */
  readonly keys: ReadonlyMap<number, OpenBreaker>;
}

/** Everything that can keep a waiting job without a worker, at one instant. */
export interface MatchingRules {
  readonly pools: ReadonlyMap<string, PoolRule>;
  /**
   * By lower-cased key of `entities`: `id:` with an entity's number, a login, or '*' for everybody
   * else.
   */
  readonly entities: ReadonlyMap<string, EntityRule>;
  /** By lower-cased login: the only entity that it means. */
  readonly pins: ReadonlyMap<string, number>;
  /** Undefined: '*' is not among the entities. */
  readonly common: CommonRule | undefined;
  /** Entities that are listed by their id, or have a listed login today. */
  readonly listed: ReadonlySet<number>;
  readonly environmentStopped: boolean;
  readonly stoppedEntities: ReadonlySet<number>;
  /** Entities where no App can be used, and why. */
  readonly barred: ReadonlyMap<number, WaitReason>;
  /** What fails time and again holds back all but one trial. */
  readonly breakers: Breakers;
  /** By installation: how many more runners may be registered now. */
  readonly budgets: ReadonlyMap<number, number>;
  /** The same for all other installations. */
  readonly usualBudget: number;
}

/** The entity of a worker, and where it registers. */
export interface Place {
  readonly entityId: number;
  /** The entity's present login, where it is known. */
  readonly login: string;
  readonly pool: string;
  /** The repository at which it registers, if that is one and its name is known. */
  readonly repoFullName?: string | null;
}

/**
 * The rule of an entity, by its id before its login; undefined: it may have no workers. A login
 * that is pinned to another entity gives none.
 */
export function entityRuleOf(
  { entities, pins }: MatchingRules,
  { entityId: id, login }: Pick<Place, 'entityId' | 'login'>,
): EntityRule | undefined {
  const named = loginAmong(entities, { id, login });
  const isAnothers = named !== undefined && (pins.get(named) ?? id) !== id;
  return isAnothers ? undefined : ruleAmong(entities, { id, login });
}

/**
 * The entities that only '*' admits: they share its cap and its weight. Those of `known` are judged
 * by their login. The login of `others` is unknown: they live and lack nothing, and `listed` has
 * their ids.
 */
export function commonAmong(
  { common, entities, listed }: MatchingRules,
  known: readonly Pick<Place, 'entityId' | 'login'>[],
  others: readonly Pick<Place, 'entityId'>[],
): ReadonlySet<number> {
  if (common === undefined) return new Set();
  const isCommonById = new Map<number, boolean>(
    others.map(({ entityId }) => [entityId, !listed.has(entityId)]),
  );
  const logins = new Map(known.map(({ entityId, login }) => [entityId, login]));
  for (const [id, login] of logins) isCommonById.set(id, isUnlisted(entities, { id, login }));
  return new Set([...isCommonById].flatMap(([entityId, isCommon]) => (isCommon ? [entityId] : [])));
}

/** An entity in a pool, as one word. */
export const entityInPool = ({ pool, entityId }: Pick<Place, 'pool' | 'entityId'>): string =>
  `${pool}@${entityId}`;

/**
 * How many reservations may be the trial of an entity in a pool; undefined: its workers
 * there do not fail. While the whole pool is held back, its one trial does not go to an entity
 * that is paused for itself.
 */
export function trialsOf(
  { breakers }: MatchingRules,
  place: Pick<Place, 'pool' | 'entityId'>,
): 0 | 1 | undefined {
  const own = breakers.entitiesInPools.get(entityInPool(place));
  return own && (own.isPaused && breakers.pools.has(place.pool) ? 0 : 1);
}

/**
 * How often an entity's workers have failed in a pool that is held back; 0 in other pools. The
 * pool's one trial goes to the entity that has failed least, so that an entity whose workers
 * always fail does not speak for all.
 */
export function failuresOf(
  { breakers }: MatchingRules,
  place: Pick<Place, 'pool' | 'entityId'>,
): number {
  return breakers.pools.has(place.pool) ? (breakers.failed.get(entityInPool(place)) ?? 0) : 0;
}

/**
 * The reason why no worker at all may be made here, even with room under the caps; undefined if
 * some may.
 */
export function blockedBy(rules: MatchingRules, place: Place): WaitReason | undefined {
  const { entityId, pool } = place;
  const rule = rules.pools.get(pool);
  if (rule === undefined) return pool === NO_POOL ? 'no_pool_fits' : 'pool_unknown';
  if (rule.paused) return 'pool_paused';
  if (!servesPlace(rules, rule, place)) return 'pool_closed';
  if (entityRuleOf(rules, place) === undefined) return 'entity_not_allowed';
  if (rules.environmentStopped || rule.stopped || rules.stoppedEntities.has(entityId))
    return 'making_stopped';
  return rules.barred.get(entityId);
}

function servesPlace(
  { pins }: MatchingRules,
  { entities, repositories }: PoolRule,
  { entityId, login, repoFullName }: Place,
): boolean {
  const gate = { entities: entities ?? undefined, repositories: repositories ?? undefined };
  const isServed = servesWithPin(gate, { id: entityId, login }, pins.get(login.toLowerCase()));
  return isServed && (typeof repoFullName !== 'string' || servesRepository(gate, repoFullName));
}
