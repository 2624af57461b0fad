import {
  blockedBy,
  commonAmong,
  entityRuleOf,
  failingLimit,
  type MatchingRules,
  type Place,
} from './matching-rules.ts';
import type { LiveWorkers } from './share-room.ts';

/** A worker that has not begun to register, with demand and supply of its key. */
export interface Reservation extends Place {
  readonly podName: string;
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
 * entity or pool may have no workers, or their key fails. The newest go first, and only as many as
 * it takes.
 */
export function pickUnwanted(
  newestFirst: readonly Reservation[],
  live: readonly LiveWorkers[],
  { rules, warm }: { rules: MatchingRules; warm: Warm },
): Reservation[] {
  if (newestFirst.length === 0) return [];
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
  return newestFirst.filter((worker) => {
    const { demandKey, unassigned, waiting } = worker;
    const supply = `supply ${demandKey}`;
    if (!counts.has(supply)) counts.set(supply, unassigned);
    const pool = rules.pools.get(worker.pool);
    const isUnwanted =
      worker.stopping ||
      isBeyond(supply, waiting + (warm.get(demandKey) ?? 0)) ||
      blockedBy(rules, worker) !== undefined ||
      isBeyond(supply, failingLimit(rules, worker).room) ||
      isBeyond(`entity ${worker.entityId}`, entityRuleOf(rules, worker)?.cap) ||
      (common.has(worker.entityId) && isBeyond('common', rules.common?.cap)) ||
      isBeyond(`pool ${worker.pool}`, pool?.cap) ||
      (worker.scopeRepoId !== 0 && isBeyond(`key ${demandKey}`, pool?.repositoryCap));
    if (!isUnwanted) return false;
    count(worker, -1);
    if (!worker.stopping) add(supply, -1);
    return true;
  });
}
