import { USUAL_MAX_WORKERS } from '../pools/entities.ts';
import { NOT_ASSIGNED, OUTDATED_RUNNER } from '../workers/stop-reasons.ts';
import {
  type EntityInPoolBreaker,
  entityInPool,
  type Breakers,
  type MatchingRules,
  type OpenBreaker,
  type PoolRule,
} from './matching-rules.ts';
import type { Snapshot } from './snapshot.ts';
import type { WaitReason } from './wait-reasons.ts';

/** The subject of a breaker. */
export type BreakerType = 'pool' | 'app' | 'installation' | 'repository' | 'github' | 'cluster';

/** Everything that limits matching, as the rows say it. Objects are keyed by the id as text. */
export interface StoredRules {
  readonly pools: readonly PoolRule[];
  readonly entities: Readonly<Record<string, StoredEntity>>;
  /** Entities by their pinned logins. */
  readonly pins: Readonly<Record<string, number>>;
  /** The pinned logins that their entity has today. */
  readonly currentPins: readonly string[];
  readonly environmentStopped: boolean;
  readonly stoppedEntities: readonly number[];
  /** By entity: why no App may be used there. */
  readonly barred: Readonly<Record<string, WaitReason>>;
  /**
   * By installation: how many more registrations it may have, negative if it has too many
   * reservations.
   */
  readonly budgets: Readonly<Record<string, number>>;
  /** The same of every other installation. */
  readonly usualBudget: number;
  /**
   * Keys whose runner group lets in too much first, then in the order in which they failed, those
   * that GitHub asked for last.
   */
  readonly breakers: readonly StoredBreaker[];
}

/** Those of an environment without pools. */
export const NO_RULES: StoredRules = {
  pools: [],
  entities: {},
  pins: {},
  currentPins: [],
  environmentStopped: false,
  stoppedEntities: [],
  barred: {},
  budgets: {},
  usualBudget: 0,
  breakers: [],
};

interface StoredEntity {
  readonly maxWorkers?: number | null;
  readonly weight?: number;
  readonly commonMaxWorkers?: number;
  readonly commonWeight?: number;
}

export interface StoredBreaker {
  readonly type: BreakerType;
  readonly id: string;
  readonly failureClass: string;
  readonly isOpen: boolean;
  /** GitHub has asked to wait: there is no trial. */
  readonly isWait: boolean;
  readonly isPaused: boolean;
  readonly failed: number;
}

type Supply = Pick<Snapshot, 'rules' | 'demand' | 'warm' | 'reservations' | 'made'>;

/** The place of a reservation. */
interface ReservedPlace {
  readonly entityId: number;
  readonly scopeRepoId: number;
  readonly pool: string;
}

/**
 * The rules as they bind the supply of the snapshot: what has a reservation or an unassigned worker
 * for its trial gets no other. The document is read leniently: it may be a newer version's.
 */
export function rulesOf({
  rules: stored,
  demand,
  warm,
  reservations,
  made,
}: Supply): MatchingRules {
  const unassigned = new Map([...demand, ...warm].map((key) => [key.demandKey, key.unassigned]));
  const madeIn = new Set(made.map(({ pool }) => pool));
  const entities = Object.entries(stored.entities).map(([key, { maxWorkers, weight }]) => {
    return [
      key.toLowerCase(),
      { cap: maxWorkers === undefined ? USUAL_MAX_WORKERS : maxWorkers, weight: weight ?? 1 },
    ] as const;
  });
  const everybody = stored.entities['*'];
  const withTrials = (pool: PoolRule): PoolRule =>
    pool.trials !== null && madeIn.has(pool.name) ? { ...pool, trials: 0 } : pool;
  return {
    pools: new Map(stored.pools.map((pool) => [pool.name, withTrials(pool)])),
    entities: new Map(entities),
    pins: new Map(Object.entries(stored.pins)),
    common: everybody && {
      cap: everybody.commonMaxWorkers ?? null,
      weight: everybody.commonWeight ?? 1,
    },
    listed: listedEntities(stored),
    environmentStopped: stored.environmentStopped,
    stoppedEntities: new Set(stored.stoppedEntities),
    barred: mapIds(stored.barred, (reason) => reason),
    breakers: openBreakers(stored.breakers, [...reservations, ...made], unassigned),
    budgets: mapIds(stored.budgets, (allowed) => Math.max(0, allowed)),
    usualBudget: stored.usualBudget,
  };
}

const mapIds = <V, W>(
  values: Readonly<Record<string, V>>,
  map: (value: V, id: number) => W,
): ReadonlyMap<number, W> =>
  new Map(Object.entries(values).map(([id, value]) => [Number(id), map(value, Number(id))]));

/** Entities that are listed by their id, or have a listed login today. */
function listedEntities({ entities, pins, currentPins }: StoredRules): ReadonlySet<number> {
  const keys = Object.keys(entities).map((key) => key.toLowerCase());
  const logins = new Set(currentPins.filter((login) => keys.includes(login)));
  return new Set([
    ...keys.flatMap((key) => (key.startsWith('id:') ? [Number(key.slice(3))] : [])),
    ...Object.entries(pins).flatMap(([login, entityId]) => (logins.has(login) ? [entityId] : [])),
  ]);
}

/**
 * If several guard one subject, a wait that GitHub asked for gives the reason, else the latest
 * failure.
 */
function openBreakers(
  rows: readonly StoredBreaker[],
  reserved: readonly ReservedPlace[],
  unassigned: ReadonlyMap<number, number>,
): Breakers {
  const pools = new Map<string, OpenBreaker>();
  const entitiesInPools = new Map<string, EntityInPoolBreaker>();
  const failed = new Map<string, number>();
  const entities = new Map<number, OpenBreaker>();
  const repositories = new Map<number, OpenBreaker>();
  const keys = new Map<number, OpenBreaker>();
  let everywhere: OpenBreaker | undefined;
  const tried = new Set(reserved.flatMap(subjectsOf));
  for (const row of rows) {
    const { type, id, isWait } = row;
    const isTried =
      type === 'github' || type === 'cluster' ? reserved.length > 0 : tried.has(`${type} ${id}`);
    const breaker: OpenBreaker = { trials: isWait || isTried ? 0 : 1, reason: reasonOf(row) };
    const [, demandKey] = id.split('#').map(Number);
    if (demandKey !== undefined) {
      // Its trial is a worker's life: none while one of its workers is unassigned.
      const trials = row.isPaused || (unassigned.get(demandKey) ?? 0) > 0 ? 0 : 1;
      if (row.isOpen && trials < (keys.get(demandKey)?.trials ?? Infinity))
        keys.set(demandKey, { ...breaker, trials });
    } else if (type === 'pool' && id.includes('@')) {
      failed.set(id, (failed.get(id) ?? 0) + row.failed);
      if (row.isOpen)
        entitiesInPools.set(id, {
          ...breaker,
          isPaused: row.isPaused || entitiesInPools.get(id)?.isPaused === true,
        });
    } else if (type === 'pool') pools.set(id, breaker);
    else if (type === 'installation') entities.set(Number(id), breaker);
    else if (type === 'repository') repositories.set(Number(id), breaker);
    else if (type === 'github' || type === 'cluster') everywhere = breaker;
  }
  return { everywhere, pools, entitiesInPools, failed, entities, repositories, keys };
}

/** The breakers for which a reservation is the trial. */
const subjectsOf = ({ entityId, scopeRepoId, pool }: ReservedPlace): string[] => [
  `pool ${pool}`,
  `pool ${entityInPool({ pool, entityId })}`,
  `installation ${entityId}`,
  `repository ${scopeRepoId}`,
];

/** The word for jobs that wait behind failures of this class. */
export function reasonOf({
  type,
  failureClass,
}: Pick<StoredBreaker, 'type' | 'failureClass'>): WaitReason {
  switch (type) {
    case 'pool':
      return POOL_REASONS.get(failureClass) ?? 'pool_failing';
    case 'app':
    case 'installation':
      return INSTALLATION_REASONS.get(failureClass) ?? 'installation_refused';
    case 'repository':
      return failureClass === 'not_found' ? 'repository_gone' : 'repository_refused';
    case 'github':
      return 'github_unavailable';
    case 'cluster':
      return 'cluster_unavailable';
    default:
      throw new Error(`A breaker guards something unknown: ${String(type satisfies never)}`);
  }
}

const POOL_REASONS: ReadonlyMap<string, WaitReason> = new Map([
  [NOT_ASSIGNED, 'github_does_not_assign'],
  [OUTDATED_RUNNER, 'runner_outdated'],
  ['runner_group_open', 'runner_group_open'],
]);

const INSTALLATION_REASONS: ReadonlyMap<string, WaitReason> = new Map([
  ['not_found', 'installation_gone'],
  ['rate_limited', 'github_budget'],
  ['conflict', 'registration_conflict'],
]);
