import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { findReasons, matchAll, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { type PodState, recordPodStates } from '@paddock/db/workers/worker-pods';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const podOf = (podName: string, given: Partial<PodState> = {}): PodState => ({
  podName,
  podUid: `uid of ${podName}`,
  podCreatedAt: new Date(),
  node: null,
  phase: 'pending',
  runningAt: null,
  endedAt: null,
  exitCode: null,
  isRunnerOver: false,
  isUnschedulable: false,
  terminatingAt: null,
  terminatingSeconds: null,
  stuckReason: null,
  failureReason: null,
  endedBy: null,
  message: null,
  ...given,
});

const follow = async (...states: PodState[]) =>
  (await recordPodStates(testDb.db, states, 60_000)).changed;
const unschedulableSince = async (podName: string) =>
  (
    await testDb.db
      .selectFrom('workers')
      .select('unschedulable_at')
      .where('pod_name', '=', podName)
      .executeTakeFirstOrThrow()
  ).unschedulable_at;

/** Workers that were made five minutes ago and that no node takes, with a job for each. */
async function putUnschedulable(count: number): Promise<string[]> {
  const names: string[] = [];
  for (let n = 0; n < count; n += 1) {
    await putJob(testDb.db);
    const { pod_name: podName } = await putWorker(testDb.db, {
      registration_started_at: new Date(),
      created_at: minutesAgo(5),
    });
    names.push(podName);
  }
  await follow(...names.map((name) => podOf(name, { isUnschedulable: true })));
  return names;
}

describe('states from the pod follower', () => {
  test('a worker that no node takes is marked, since when it was first seen so, until it has a node (C4, C8)', async () => {
    const [name = ''] = await putUnschedulable(1);
    const since = await unschedulableSince(name);
    expect(since).not.toBeNull();
    expect(await follow(podOf(name, { isUnschedulable: true }))).toEqual([]);
    expect(await unschedulableSince(name)).toEqual(since);
    await follow(podOf(name, { node: 'n1' }));
    expect(await unschedulableSince(name)).toBeNull();
  });
});

describe('while no node takes a key’s workers (C4)', () => {
  test('a burst is made as a whole, before any of its pods is known to find no node', async () => {
    for (let n = 0; n < 30; n += 1) await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(30);
  });

  test('the key has ten of them, those in the making included, and other keys as many as they lack', async () => {
    await putUnschedulable(7);
    for (let n = 0; n < 5; n += 1) await putJob(testDb.db);
    for (let n = 0; n < 5; n += 1)
      await putJob(testDb.db, { entity_id: 90_000_002, entity_name: 'globex' });
    expect(await matchAll(testDb.db)).toBe(3 + 5);
    const keys = await testDb.db
      .selectFrom('demand_keys')
      .select(['entity_id', 'unassigned', 'wait_reason'])
      .orderBy('entity_id')
      .execute();
    expect(keys).toEqual([
      { entity_id: 90_000_001, unassigned: 10, wait_reason: 'no_capacity' },
      { entity_id: 90_000_002, unassigned: 5, wait_reason: null },
    ]);
  });

  test('the next one follows when one of them finds a node or ends, after no other time (C4)', async () => {
    const [first = '', second = ''] = await putUnschedulable(10);
    for (let n = 0; n < 5; n += 1) await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(0);
    expect(await findReasons(testDb.db)).toEqual({ linux: 'no_capacity' });
    await follow(podOf(first, { node: 'n1', phase: 'running', runningAt: new Date() }));
    expect(await matchAll(testDb.db)).toBe(1);
    await testDb.db
      .updateTable('workers')
      .set({ status: 'failed', completed_at: new Date() })
      .where('pod_name', '=', second)
      .execute();
    // It was made for a job that waits again.
    expect(await matchAll(testDb.db)).toBe(1);
  });

  test('everything goes on once nodes took all of them', async () => {
    const names = await putUnschedulable(10);
    for (let n = 0; n < 5; n += 1) await putJob(testDb.db);
    await follow(...names.map((name) => podOf(name, { node: 'n1' })));
    expect(await matchAll(testDb.db)).toBe(5);
    expect(await findReasons(testDb.db)).toEqual({ linux: null });
  });

  test('a pool may say another number (C4)', async () => {
    await putPools(testDb.db, examplePools({ pools: [{ maxUnschedulable: 3 }] }));
    await putUnschedulable(2);
    for (let n = 0; n < 5; n += 1) await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(1);
  });
});
