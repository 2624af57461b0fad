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
  /** Most workers of one key that no node takes; null: the usual number. */
  readonly maxUnschedulable: number | null;
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
 * What GitHub told us of an entity or a repository. Paused: no worker is made. Once that is over,
 * one worker shows whether it still holds.
 */
export interface Told {
  readonly isPaused: boolean;
  readonly reason: WaitReason;
  /** That worker is on its way. */
  readonly isTried: boolean;
}

/** How many pods of a key no node takes, and how many are not on a node yet, with these. */
export interface Nodeless {
  readonly unschedulable: number;
  readonly unplaced: number;
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
  /** Why nothing at all is made: GitHub or the cluster is away. */
  readonly away: WaitReason | undefined;
  /** What GitHub told us of entities, and of repositories at which workers register. */
  readonly told: {
    readonly entities: ReadonlyMap<number, Told>;
    readonly repositories: ReadonlyMap<number, Told>;
  };
  /** By demand key: its workers fail, or its runner group lets in too much. */
  readonly failing: ReadonlyMap<number, Limit>;
  /** Keys whose pool fails for others: the first worker shows whether it fails here too. */
  readonly suspected: (place: Pick<Place, 'demandKey' | 'entityId' | 'pool'>) => boolean;
  /** By demand key; keys whose pods all find nodes are absent. */
  readonly nodeless: ReadonlyMap<number, Nodeless>;
  /** By installation: how many more runners may be registered now. */
  readonly budgets: ReadonlyMap<number, number>;
  /** The same for all other installations. */
  readonly usualBudget: number;
}

/** The entity of a worker, and where it registers. */
export interface Place {
  readonly demandKey: number;
  readonly entityId: number;
  readonly scopeRepoId: number;
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

/**
 * The reason why no worker at all may be made here, even with room under the caps; undefined if
 * some may.
 */
export function blockedBy(rules: MatchingRules, place: Place): WaitReason | undefined {
  const { entityId, pool, scopeRepoId } = place;
  const rule = rules.pools.get(pool);
  if (rule === undefined) return pool === NO_POOL ? 'no_pool_fits' : 'pool_unknown';
  if (rule.paused) return 'pool_paused';
  if (!servesPlace(rules, rule, place)) return 'pool_closed';
  if (entityRuleOf(rules, place) === undefined) return 'entity_not_allowed';
  if (rules.environmentStopped || rule.stopped || rules.stoppedEntities.has(entityId))
    return 'making_stopped';
  const { entities, repositories } = rules.told;
  const told = [entities.get(entityId), repositories.get(scopeRepoId)];
  return rules.barred.get(entityId) ?? told.find((guard) => guard?.isPaused)?.reason;
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

/** How many workers of the key may be without a job, and why not more. */
export interface Limit {
  readonly room: number;
  readonly reason: WaitReason | null;
}

const NO_LIMIT: Limit = { room: Infinity, reason: null };

/** How many workers of a key may be without a job while its own failures hold it back. */
export const failingLimit = (
  { failing }: MatchingRules,
  { demandKey }: Pick<Place, 'demandKey'>,
): Limit => failing.get(demandKey) ?? NO_LIMIT;

/** The same while the pool fails for two other entities: one worker shows the way, never none. */
export const suspicionLimit = (
  { suspected }: MatchingRules,
  place: Pick<Place, 'demandKey' | 'entityId' | 'pool'>,
): Limit => (suspected(place) ? { room: 1, reason: 'pool_suspected' } : NO_LIMIT);

/** How many more workers may be made where GitHub told us something. */
export const toldLimit = (told: Told | undefined): Limit =>
  told === undefined
    ? NO_LIMIT
    : { room: told.isPaused || told.isTried ? 0 : 1, reason: told.reason };

/** Many pods may wait for a node at once, so that an autoscaler sees a burst as a whole. */
export const MOST_UNSCHEDULABLE = 10;

/**
 * How many more workers of a key may be made while no node takes some of them. The next follows
 * when one of them finds a node or ends.
 */
export function nodeLimit(
  { nodeless, pools }: MatchingRules,
  { demandKey, pool }: Pick<Place, 'demandKey' | 'pool'>,
): Limit {
  const waiting = nodeless.get(demandKey);
  if (waiting === undefined) return NO_LIMIT;
  const most = pools.get(pool)?.maxUnschedulable ?? MOST_UNSCHEDULABLE;
  return { room: Math.max(0, most - waiting.unplaced), reason: 'no_capacity' };
}
