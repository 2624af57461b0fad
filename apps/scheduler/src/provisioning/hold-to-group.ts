import { saveRunnerGroup } from '@paddock/db/matching/runner-groups';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { groupExcess, isHeldToItsGroup } from '@paddock/domain/pools/group-excess';
import type { Pool } from '@paddock/domain/pools/pool';
import type { RunnerGroup } from '@paddock/github/runner-groups';
import type { Registering } from './registering.ts';

/** Somebody has to change the group at GitHub, or the pool: both take longer. */
const LOOK_AGAIN_MS = 15 * 60_000;

/** By what GitHub told of a group: the pools whose runners may be registered there, so that it is written down once. A refusal always is. */
const admitted = new WeakMap<RunnerGroup, Set<string>>();

/**
 * Why no runner of the pool may be registered in the organisation's group, in a sentence; undefined if it may. GitHub gives a group's runners to
 * whom the group lets in, whatever the pool says: what that is beyond the pool is written down in any case, and stops the pools that are
 * held to it. The default group, where the pool names it, is not asked for: what it means was said where the file was loaded.
 */
export async function holdToGroup(
  { db, runnerGroups, events }: Registering,
  { entityId, login }: WorkerToProvision,
  { pool, group }: { pool: Pool; group: RunnerGroup },
): Promise<string | undefined> {
  if (pool.runnerGroup.toLowerCase() === 'default') return undefined;
  const pools = admitted.get(group) ?? new Set<string>();
  admitted.set(group, pools);
  const key = JSON.stringify(pool);
  if (pools.has(key)) return undefined;
  const excess = groupExcess(pool, group.access);
  const isHeld = excess !== undefined && isHeldToItsGroup(pool);
  const { name, runnerGroup } = pool;
  const pauseMs = isHeld ? LOOK_AGAIN_MS : undefined;
  const isNews = await saveRunnerGroup(db, { entityId, pool: name, name: runnerGroup, access: group.access, excess, pauseMs });
  if (isNews && excess !== undefined) events.runnerGroupOpen({ pool: name, org: login, excess, isHeld });
  if (!isHeld) {
    pools.add(key);
    return undefined;
  }
  // The next worker that tries asks GitHub anew.
  runnerGroups.forget(login);
  return excess;
}
