import { USUAL_MAX_WORKERS } from '../pools/entities.ts';
import { failureClass, type Proof } from './failure-classes.ts';
import type { Limit, MatchingRules, Nodeless, PoolRule, Told } from './matching-rules.ts';
import type { WaitReason } from './wait-reasons.ts';

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
  /** The services that are away: `github`, or a cluster's name. */
  readonly away: readonly string[];
  /** What GitHub told us of entities, and of repositories. */
  readonly told: {
    readonly entities: Readonly<Record<string, Told>>;
    readonly repositories: Readonly<Record<string, Told>>;
  };
  /** Keys that are paused, or have been since their last success. */
  readonly failing: readonly FailingKey[];
  /** Keys whose runner group lets in more than the pool serves, and whether they rest now. */
  readonly openGroups: Readonly<Record<string, boolean>>;
  /** By key of a pool with failing keys: when the last of its live workers began to run. */
  readonly started: Readonly<Record<string, number>>;
  readonly nodeless: Readonly<Record<string, Nodeless>>;
  /**
   * By installation: how many more registrations it may have, negative if it has too many
   * reservations.
   */
  readonly budgets: Readonly<Record<string, number>>;
  /** The same of every other installation. */
  readonly usualBudget: number;
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
  away: [],
  told: { entities: {}, repositories: {} },
  failing: [],
  openGroups: {},
  started: {},
  nodeless: {},
  budgets: {},
  usualBudget: 0,
};

interface StoredEntity {
  readonly maxWorkers?: number | null;
  readonly weight?: number;
  readonly commonMaxWorkers?: number;
  readonly commonWeight?: number;
}

/** A key whose workers failed so often that it was paused. Instants in seconds since the epoch. */
export interface FailingKey {
  readonly demandKey: number;
  readonly entityId: number;
  readonly pool: string;
  readonly failureClass: string;
  readonly isPaused: boolean;
  /** It is paused or has jobs: without both, nobody knows whether it would fail still. */
  readonly isInUse: boolean;
  /** How many of its workers without a job have shown what would end failures of some class. */
  readonly shown: Readonly<Partial<Record<Proof, number>>>;
  /** Waiting jobs of repositories that had none when GitHub last gave its runners no job. */
  readonly others: number;
  /** When the first of the failures was counted. */
  readonly since: number;
}

/**
 * The rules as they bind at the snapshot's instant. The document is read leniently: it may be a
 * newer version's.
 */
export function rulesOf({ rules: stored }: { readonly rules: StoredRules }): MatchingRules {
  const entities = Object.entries(stored.entities).map(([key, { maxWorkers, weight }]) => {
    return [
      key.toLowerCase(),
      { cap: maxWorkers === undefined ? USUAL_MAX_WORKERS : maxWorkers, weight: weight ?? 1 },
    ] as const;
  });
  const everybody = stored.entities['*'];
  const openGroups = mapIds(stored.openGroups, (isPaused): Limit => ({
    room: isPaused ? 0 : 1,
    reason: 'runner_group_open',
  }));
  const failing = stored.failing.map((key) => [key.demandKey, limitOf(key)] as const);
  return {
    pools: new Map(stored.pools.map((pool) => [pool.name, pool])),
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
    away: awayReason(stored.away),
    told: {
      entities: mapIds(stored.told.entities, (guard) => guard),
      repositories: mapIds(stored.told.repositories, (guard) => guard),
    },
    // A group that is open forbids what a trial would try.
    failing: new Map([...failing, ...openGroups]),
    suspected: suspicionOf(stored),
    nodeless: mapIds(stored.nodeless, (nodeless) => nodeless),
    budgets: mapIds(stored.budgets, (allowed) => Math.max(0, allowed)),
    usualBudget: stored.usualBudget,
  };
}

/**
 * No worker is made during the pause; after it one at a time, whose row is the trial. Workers that
 * had come through before the last failure try nothing, and may wait long, as for a node. That
 * GitHub gives no runner to one repository says nothing of others.
 */
function limitOf({ isPaused, shown, others, ...key }: FailingKey): Limit {
  const { endsWith, reason } = failureClass(key.failureClass);
  return { room: (shown[endsWith] ?? 0) + (isPaused ? 0 : 1) + others, reason };
}

/** The word for jobs that wait for these services; GitHub's comes first. */
export const awayReason = (services: readonly string[]): WaitReason | undefined => {
  if (services.includes('github')) return 'github_unavailable';
  return services.length > 0 ? 'cluster_unavailable' : undefined;
};

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

/** This many other entities that fail in a pool make it suspect. */
const SUSPICIOUS = 2;

/**
 * A key is suspected once its pool fails for two other entities, until one of its workers has
 * begun to run since.
 */
function suspicionOf({ failing, started }: StoredRules): MatchingRules['suspected'] {
  const ofPools = Map.groupBy(failing, ({ pool }) => pool);
  return ({ demandKey, entityId, pool }) => {
    const others = new Map<number, number>();
    for (const key of ofPools.get(pool) ?? []) {
      if (key.entityId === entityId || !key.isInUse) continue;
      others.set(key.entityId, Math.min(key.since, others.get(key.entityId) ?? Infinity));
    }
    const since = [...others.values()].toSorted((a, b) => a - b)[SUSPICIOUS - 1];
    return since !== undefined && (started[demandKey] ?? -Infinity) <= since;
  };
}
