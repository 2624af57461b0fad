import type { KeyDemand } from '../matching/caps.ts';
import type { MatchingRules, PoolRule } from '../matching/matching-rules.ts';
import type { Reservation } from '../matching/pick-unwanted.ts';
import {
  type Demand,
  EMPTY_SNAPSHOT,
  type Returnable,
  type Snapshot,
  type WarmKey,
  type SpareKey,
} from '../matching/snapshot.ts';
import { type FailingKey, NO_RULES, type StoredRules } from '../matching/stored-rules.ts';

const LINUX: PoolRule = {
  name: 'linux',
  paused: false,
  cap: null,
  repositoryCap: null,
  stopped: false,
  maxUnschedulable: null,
  entities: null,
  repositories: null,
};

/** No limits for any entity in the pool `linux`; `given` has the differences. */
export const storedRules = (given: Partial<StoredRules> = {}): StoredRules => ({
  ...NO_RULES,
  pools: [LINUX],
  entities: { '*': { maxWorkers: null } },
  usualBudget: 180,
  away: [],
  ...given,
});

/** The pool `linux` with the differences. */
export const linux = (given: Partial<PoolRule> = {}): PoolRule => ({
  ...LINUX,
  ...given,
});

/** The key has failed for a second, and its pause is over. */
export const failingKey = (demandKey: number, given: Partial<FailingKey> = {}): FailingKey => ({
  demandKey,
  entityId: Math.floor(demandKey / 10),
  pool: 'linux',
  failureClass: 'pod_refused',
  isPaused: false,
  isInUse: true,
  shown: {},
  others: 0,
  since: 1,
  ...given,
});

export const snapshotOf = (given: Partial<Snapshot>): Snapshot => ({
  ...EMPTY_SNAPSHOT,
  rules: storedRules(),
  ...given,
});

/** The entity that a key belongs to: 10 to 19 are those of entity 1, which is acme. */
const entityOf = (demandKey: number) => {
  const entityId = Math.floor(demandKey / 10);
  const login = entityId === ACME ? 'Acme' : `account-${entityId}`;
  return { entityId, login, installationId: 100 + entityId };
};
const placeOf = (demandKey: number) => ({
  demandKey,
  ...entityOf(demandKey),
  scopeRepoId: 0,
  pool: 'linux',
});

/** Two jobs of the key wait, and nothing is on its way. */
export const demandOf = (demandKey: number, given: Partial<Demand> = {}): Demand => ({
  ...placeOf(demandKey),
  entityName: entityOf(demandKey).login,
  waiting: 2,
  unassigned: 0,
  unexplained: 0,
  oldest: demandKey,
  stored: null,
  failureClass: null,
  lacksNodes: false,
  ...given,
});

export const reservationOf = (
  podName: string,
  demandKey: number,
  given: Partial<Reservation> = {},
): Reservation => ({
  podName,
  ...placeOf(demandKey),
  stopping: false,
  waiting: 0,
  unassigned: 1,
  ...given,
});

/** Two workers are kept warm for the key, and there are none. */
export const warmKey = (demandKey: number, given: Partial<WarmKey> = {}): WarmKey => ({
  ...placeOf(demandKey),
  repoFullName: null,
  wanted: 2,
  waiting: 0,
  unassigned: 0,
  unexplained: 0,
  marked: 0,
  aged: [],
  renewing: 0,
  ...given,
});

export const liveOf = (demandKey: number, alive: number) => {
  const { entityId, scopeRepoId, pool } = placeOf(demandKey);
  return { demandKey, entityId, scopeRepoId, pool, alive };
};

/** Workers of the key that no job wants. */
export const spareOf = (
  demandKey: number,
  spare: number,
  given: Partial<SpareKey> = {},
): SpareKey => ({
  ...placeOf(demandKey),
  spare,
  ...given,
});

/** A surplus worker of the key that was asked to end. */
export const returnableOf = (podName: string, demandKey: number): Returnable => {
  const { entityId, scopeRepoId, pool } = placeOf(demandKey);
  return { podName, demandKey, entityId, scopeRepoId, pool };
};

/**
 * The rules for the entity acme and the pool `linux`, without any cap; `given` has the differences.
 */
export const rulesWith = (
  given: Partial<MatchingRules> & { pool?: Partial<PoolRule>; cap?: number } = {},
): MatchingRules => ({
  pools: new Map([['linux', { ...linux(), ...given.pool }]]),
  entities: new Map([['acme', { cap: given.cap ?? null, weight: 1 }]]),
  pins: new Map(),
  common: undefined,
  listed: new Set(),
  environmentStopped: false,
  stoppedEntities: new Set(),
  barred: new Map(),
  budgets: new Map(),
  usualBudget: 180,
  away: undefined,
  told: { entities: new Map(), repositories: new Map() },
  failing: new Map(),
  suspected: () => false,
  nodeless: new Map(),
  ...given,
});

export const ACME = 1;
export const INSTALLATION = 31;

/** Demand of one key of ACME in the pool `linux`, which lacks three workers. */
export const keyDemand = (demandKey: number, given: Partial<KeyDemand> = {}): KeyDemand => ({
  demandKey,
  entityId: ACME,
  login: 'Acme',
  installationId: INSTALLATION,
  scopeRepoId: 0,
  pool: 'linux',
  lacking: 3,
  unassigned: 0,
  oldest: demandKey,
  ...given,
});
