import {
  entityInPool,
  blockedBy,
  commonAmong,
  entityRuleOf,
  failuresOf,
  type MatchingRules,
  type Place,
  trialsOf,
} from './matching-rules.ts';
import type { LiveWorkers } from './share-room.ts';

/** A worker that has not begun to register, with demand and supply of its key. */
export interface Reservation extends Place {
  readonly podName: string;
  readonly demandKey: number;
  readonly scopeRepoId: number;
  readonly installationId: number;
  /** Its end has been asked for. */
  readonly stopping: boolean;
  readonly waiting: number;
  readonly unassigned: number;
}

/** By key: how many workers are kept although no job waits. */
type Warm = ReadonlyMap<number, number>;

/**
 * The reservations that have become too many. Their demand has gone, a cap was lowered, their
 * entity or pool may have no workers, or all but one wait behind an open breaker. The newest go
 * first, and only as many as it takes. In a pool that is held back, reservations of the entity
 * that has failed most go before all others.
 */
export function pickUnwanted(
  newestFirst: readonly Reservation[],
  live: readonly LiveWorkers[],
  { rules, warm }: { rules: MatchingRules; warm: Warm },
): Reservation[] {
  if (newestFirst.length === 0) return [];
  const { breakers } = rules;
  const common = commonAmong(rules, newestFirst, live);
  const counts = new Map<string, number>();
  const add = (key: string, by: number): void => void counts.set(key, (counts.get(key) ?? 0) + by);
  const count = (worker: Omit<LiveWorkers, 'alive'>, by: number): void => {
    for (const key of [
      `entity ${worker.entityId}`,
      `pool ${worker.pool}`,
      `key ${worker.demandKey}`,
    ])
      add(key, by);
    if (common.has(worker.entityId)) add('common', by);
  };
  for (const workers of live) count(workers, workers.alive);
  const isBeyond = (key: string, cap: number | null | undefined): boolean =>
    typeof cap === 'number' && (counts.get(key) ?? 0) > cap;
  // Under an open breaker one reservation is the trial; others would only use room under caps.
  for (const worker of newestFirst) for (const key of reservedUnder(worker)) add(key, 1);
  const isHeldBack = (worker: Reservation): boolean => {
    const [all, ofPool, ofEntityInPool, ofEntity, ofRepository] = reservedUnder(worker);
    return (
      isBeyond(ofEntityInPool, trialsOf(rules, worker)) ||
      (breakers.everywhere !== undefined && isBeyond(all, 1)) ||
      (breakers.pools.has(worker.pool) && isBeyond(ofPool, 1)) ||
      (breakers.entities.has(worker.entityId) && isBeyond(ofEntity, 1)) ||
      (breakers.repositories.has(worker.scopeRepoId) && isBeyond(ofRepository, 1))
    );
  };
  const inOrder = newestFirst.toSorted((a, b) => failuresOf(rules, b) - failuresOf(rules, a));
  return inOrder.filter((worker) => {
    const spare = `spare ${worker.demandKey}`;
    if (!counts.has(spare))
      counts.set(spare, worker.unassigned - worker.waiting - (warm.get(worker.demandKey) ?? 0));
    const pool = rules.pools.get(worker.pool);
    const isUnwanted =
      worker.stopping ||
      isBeyond(spare, 0) ||
      blockedBy(rules, worker) !== undefined ||
      isHeldBack(worker) ||
      isBeyond(`entity ${worker.entityId}`, entityRuleOf(rules, worker)?.cap) ||
      (common.has(worker.entityId) && isBeyond('common', rules.common?.cap)) ||
      isBeyond(`pool ${worker.pool}`, pool?.cap) ||
      (worker.scopeRepoId !== 0 && isBeyond(`key ${worker.demandKey}`, pool?.repositoryCap));
    if (!isUnwanted) return false;
    count(worker, -1);
    for (const key of reservedUnder(worker)) add(key, -1);
    if (!worker.stopping) add(spare, -1);
    return true;
  });
}

const reservedUnder = ({ entityId, scopeRepoId, pool }: Reservation) =>
  [
    'reserved',
    `reserved pool ${pool}`,
    `reserved ${entityInPool({ entityId, pool })}`,
    `reserved entity ${entityId}`,
    `reserved repository ${scopeRepoId}`,
  ] as const;
