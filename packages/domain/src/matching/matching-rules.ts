import { isUnlisted, loginAmong, ruleAmong } from '../pools/entities.ts';
import { servesBearer, servesRepository } from '../pools/gate.ts';
import { NO_POOL } from '../pools/place-job.ts';
import type { WaitReason } from './wait-reasons.ts';

/** A pool as the matcher needs it; a cap that is null binds nobody. */
export interface PoolRule {
  readonly name: string;
  readonly paused: boolean;
  readonly cap: number | null;
  readonly repositoryCap: number | null;
  /** Somebody has stopped the making of workers here. */
  readonly stopped: boolean;
  /** Workers of it that no node takes hold back all but so many; null while capacity is not known to be short. */
  readonly trials: number | null;
  /** Whose jobs it serves; null: everybody's. */
  readonly entities: readonly string[] | null;
  readonly repositories: readonly string[] | null;
}

/** What the configuration says of an account. */
export interface EntityRule {
  readonly cap: number | null;
  readonly weight: number;
}

/** The common rule of all accounts that only '*' admits. */
export interface CommonRule {
  readonly cap: number | null;
  /** They share a full pool like one account of this weight. */
  readonly weight: number;
}

/** An open breaker: how many more may be reserved under it, 1 while nobody stands for the trial, else 0. */
export interface OpenBreaker {
  readonly trials: 0 | 1;
  readonly reason: WaitReason;
}

/** Of an account in a pool. */
export interface AccountBreaker extends OpenBreaker {
  /** Its pause is not over: the next trial waits. */
  readonly isPaused: boolean;
}

export interface Breakers {
  /** GitHub's, or the cluster's: of everything. */
  readonly everywhere: OpenBreaker | undefined;
  readonly pools: ReadonlyMap<string, OpenBreaker>;
  /** Of one account in one pool, by `accountInPool`. */
  readonly accounts: ReadonlyMap<string, AccountBreaker>;
  /** Of accounts in pools that are held back, by `accountInPool`: how many of their workers have failed there since one of them succeeded. */
  readonly failed: ReadonlyMap<string, number>;
  /** By account. */
  readonly entities: ReadonlyMap<number, OpenBreaker>;
  /** By the repository at which workers register. */
  readonly repositories: ReadonlyMap<number, OpenBreaker>;
}

/** Everything that can keep a waiting job without a worker, as it stands at one instant. */
export interface MatchingRules {
  readonly pools: ReadonlyMap<string, PoolRule>;
  /** By lower-cased key of `entities`: `id:` with an account's number, a login, or '*' for everybody else. */
  readonly entities: ReadonlyMap<string, EntityRule>;
  /** By lower-cased login: the only account that it stands for. */
  readonly pins: ReadonlyMap<string, number>;
  /** Undefined: '*' is not among the entities. */
  readonly common: CommonRule | undefined;
  /** Accounts that bear a name of the entities today, or are listed by their id. */
  readonly listed: ReadonlySet<number>;
  readonly environmentStopped: boolean;
  readonly stoppedEntities: ReadonlySet<number>;
  /** Accounts where GitHub has said that the App is suspended, or not installed any more. */
  readonly barred: ReadonlyMap<number, WaitReason>;
  /** What fails time and again, and holds back all but one trial (C11). */
  readonly breakers: Breakers;
  /** By key: how many workers may be tried although GitHub gave its idle ones no job (C11). */
  readonly unserved: ReadonlyMap<number, 0 | 1>;
  /** By key: how many workers may be tried although the runner group lets in more than the pool serves. */
  readonly openGroups: ReadonlyMap<number, 0 | 1>;
  /** By installation: how many more runners may be registered now. */
  readonly budgets: ReadonlyMap<number, number>;
  /** The same of installations of which nothing special is known. */
  readonly usualBudget: number;
}

/** Whose worker it is, and where. */
export interface Place {
  readonly entityId: number;
  /** The account's present login, where it is known. */
  readonly login: string;
  readonly pool: string;
  /** Where its workers register, if that is at one repository whose name is known. */
  readonly repoFullName?: string | null;
}

/** The rule of an account, by its id before its login; undefined: it may not have workers, as under a login that is another one's. */
export function entityRuleOf(
  { entities, pins }: MatchingRules,
  { entityId: id, login }: Pick<Place, 'entityId' | 'login'>,
): EntityRule | undefined {
  const named = loginAmong(entities, { id, login });
  const isAnothers = named !== undefined && (pins.get(named) ?? id) !== id;
  return isAnothers ? undefined : ruleAmong(entities, { id, login });
}

/**
 * Which of some accounts only '*' admits, so that they share its cap and its weight. Of `known` the login is known; of `others`, whose workers
 * live and lack none, the listed accounts are told by their ids.
 */
export function commonAmong(
  { common, entities, listed }: MatchingRules,
  known: readonly Pick<Place, 'entityId' | 'login'>[],
  others: readonly Pick<Place, 'entityId'>[],
): ReadonlySet<number> {
  if (common === undefined) return new Set();
  const accounts = new Map<number, boolean>(others.map(({ entityId }) => [entityId, !listed.has(entityId)]));
  const logins = new Map(known.map(({ entityId, login }) => [entityId, login]));
  for (const [id, login] of logins) accounts.set(id, isUnlisted(entities, { id, login }));
  return new Set([...accounts].flatMap(([entityId, isCommon]) => (isCommon ? [entityId] : [])));
}

/** An account's part of a pool, as one word. */
export const accountInPool = ({ pool, entityId }: Pick<Place, 'pool' | 'entityId'>): string => `${pool}@${entityId}`;

/**
 * How many may stand for the trial of an account in a pool; undefined: its workers there do not fail. While the whole pool is held back it
 * has one trial, which is not left to an account that has to wait for longer than others.
 */
export function standingOf({ breakers }: MatchingRules, place: Pick<Place, 'pool' | 'entityId'>): 0 | 1 | undefined {
  const own = breakers.accounts.get(accountInPool(place));
  return own && (own.isPaused && breakers.pools.has(place.pool) ? 0 : 1);
}

/**
 * How often an account's workers have failed in a pool that is held back; 0 in all others. Its one trial goes to whoever has failed least: so
 * an account whose workers always fail does not stand in for all others.
 */
export function failuresOf({ breakers }: MatchingRules, place: Pick<Place, 'pool' | 'entityId'>): number {
  return breakers.pools.has(place.pool) ? (breakers.failed.get(accountInPool(place)) ?? 0) : 0;
}

/** Why no worker at all may be made here, whatever the caps say; undefined if some may. */
export function blockedBy(rules: MatchingRules, place: Place): WaitReason | undefined {
  const { entityId, pool } = place;
  const rule = rules.pools.get(pool);
  if (rule === undefined) return pool === NO_POOL ? 'no_pool_fits' : 'pool_unknown';
  if (rule.paused) return 'pool_paused';
  if (!servesPlace(rules, rule, place)) return 'pool_closed';
  if (entityRuleOf(rules, place) === undefined) return 'entity_not_allowed';
  if (rules.environmentStopped || rule.stopped || rules.stoppedEntities.has(entityId)) return 'making_stopped';
  return rules.barred.get(entityId);
}

function servesPlace({ pins }: MatchingRules, { entities, repositories }: PoolRule, { entityId, login, repoFullName }: Place): boolean {
  const gate = { entities: entities ?? undefined, repositories: repositories ?? undefined };
  const isServed = servesBearer(gate, { id: entityId, login }, pins.get(login.toLowerCase()));
  return isServed && (typeof repoFullName !== 'string' || servesRepository(gate, repoFullName));
}
