import { saveRunnerGroup } from '@paddock/db/matching/stored-rules';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { groupExcess, isHeldToItsGroup } from '@paddock/domain/pools/runner-group';
import type { Pool } from '@paddock/domain/pools/pool';
import type { RunnerGroup } from '@paddock/github/runner-groups';
import type { Provisioning } from './provisioning.ts';

/** An operator has to change the group or the pool: that takes longer. */
const RECHECK_MS = 15 * 60_000;

/**
 * The pools that each reading of a group has admitted, so that one reading is saved once. Refusals
 * are always saved.
 */
const admitted = new WeakMap<RunnerGroup, Set<string>>();

/**
 * Saves and logs which jobs the organisation's runner group lets in beyond those that the pool
 * serves. Returns that as a sentence if it forbids registering the pool's runners there, and
 * undefined if they may register. A pool that names the default group is not checked: loading the
 * pools file has warned of that.
 */
export async function checkRunnerGroup(
  { db, runnerGroups, events }: Provisioning,
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
  const pauseMs = isHeld ? RECHECK_MS : undefined;
  const isNews = await saveRunnerGroup(db, {
    entityId,
    pool: name,
    name: runnerGroup,
    access: group.access,
    excess,
    pauseMs,
  });
  if (isNews && excess !== undefined)
    events[isHeld ? 'runnerGroupHeld' : 'runnerGroupOpen']({ pool: name, org: login, excess });
  if (!isHeld) {
    pools.add(key);
    return undefined;
  }
  // The next worker that tries reads the group from GitHub again.
  runnerGroups.forget(login);
  return excess;
}
