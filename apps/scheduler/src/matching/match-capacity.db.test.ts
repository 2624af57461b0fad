import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { findReasons, matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
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

describe('while no node takes a pool’s workers (C4)', () => {
  test('one such worker holds back none', async () => {
    await putUnschedulable(1);
    await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(1);
  });

  test('two hold back all but one trial, and none of another pool', async () => {
    await putUnschedulable(2);
    for (let n = 0; n < 3; n += 1) await putJob(testDb.db);
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    expect(await matchAll(testDb.db)).toBe(2);
    expect(await findReasons(testDb.db)).toEqual({ gpu: null, linux: 'no_capacity' });
    const made = await testDb.db
      .selectFrom('workers')
      .select('k8s_pool')
      .where('registration_started_at', 'is', null)
      .execute();
    expect(made.map((worker) => worker.k8s_pool).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'gpu',
      'linux',
    ]);
  });

  test('a trial follows another only after a while', async () => {
    await putUnschedulable(2);
    for (let n = 0; n < 3; n += 1) await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(1);
    expect(await matchAll(testDb.db)).toBe(0);
    await testDb.db
      .updateTable('workers')
      .set({ created_at: minutesAgo(2) })
      .execute();
    expect(await matchAll(testDb.db)).toBe(1);
  });

  test('everything goes on once a node took one of them, or once it is being removed', async () => {
    const [first = '', second = ''] = await putUnschedulable(3);
    await putJob(testDb.db);
    await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(1);
    expect(await findReasons(testDb.db)).toEqual({ linux: 'no_capacity' });
    await follow(podOf(first, { node: 'n1', phase: 'running', runningAt: new Date() }));
    await testDb.db
      .updateTable('workers')
      .set({ stopping_at: new Date() })
      .where('pod_name', '=', second)
      .execute();
    await matchAll(testDb.db);
    expect(await findReasons(testDb.db)).toEqual({ linux: null });
  });

  test('how many it takes, and how often one is tried, are settings (H6)', async () => {
    await putUnschedulable(2);
    await putJob(testDb.db);
    await putJob(testDb.db);
    expect(
      (await matchOnce(testDb.db, { unschedulableLimit: 1, trialEveryMs: 600_000 })).reserved,
    ).toEqual([]);
    expect((await matchOnce(testDb.db, { unschedulableLimit: 3 })).reserved).toHaveLength(2);
  });
});
