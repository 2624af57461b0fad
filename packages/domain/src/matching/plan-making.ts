import { capsOf, type KeyDemand } from './caps.ts';
import { type KeyPlan, planWorkers } from './plan-workers.ts';
import type { Snapshot, WorkersToMake } from './snapshot.ts';
import { rulesOf } from './stored-rules.ts';

/**
 * The workers to make for keys in the room that the snapshot leaves, `most` at most. `plans` says
 * of each key why not more.
 */
export function planMaking(
  snapshot: Snapshot,
  demand: readonly KeyDemand[],
  most: number,
): { make: WorkersToMake[]; plans: ReadonlyMap<number, KeyPlan> } {
  if (demand.length === 0) return { make: [], plans: new Map() };
  const { live, jobTimes } = snapshot;
  const caps = capsOf(demand, live, rulesOf(snapshot));
  const plans = planWorkers(demand, live, { caps, jobTimes, most });
  const make = demand.flatMap(({ demandKey, entityId, scopeRepoId, pool, installationId }) => {
    const count = plans.get(demandKey)?.made ?? 0;
    return count === 0 ? [] : [{ demandKey, entityId, scopeRepoId, pool, installationId, count }];
  });
  return { make, plans };
}
