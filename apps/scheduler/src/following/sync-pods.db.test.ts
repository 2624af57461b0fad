import { expect, test } from '@jest/globals';
import { emptyTables } from '@paddock/testing/empty-tables';
import { matchOnce } from '../matching/match.ts';
import { FOLLOWING, GATE } from '../scenes/settings.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { createPodsSync } from './sync-pods.ts';

const world = useSchedulerWorld({ playRunners: false });
const followed = useFollowedPods(world);
const { signal } = new AbortController();

/** A scheduler that has just begun. */
function begin() {
  const failures: (() => void)[] = [];
  let synced = 0;
  const pods = createPodsSync({
    ...world.parts,
    ...FOLLOWING,
    outage: { onFailure: (act) => void failures.push(act) },
    onSynced: () => void synced++,
  });
  return {
    pods,
    loseConnection: () => failures.forEach((act) => act()),
    timesSynced: () => synced,
    match: () =>
      pods.before(async (mayMake) => {
        expect(pods.isSynced()).toBe(false);
        const { reserved, ended } = await matchOnce(world.parts.db, GATE);
        return { mayMake, made: reserved.length, givenBack: ended.length };
      }, signal),
    mayMake: () => pods.before((mayMake) => Promise.resolve(mayMake), signal),
  };
}

const capAt = (maxWorkers: number) =>
  world.putPools({ ...world.pools, entities: { acme: { maxWorkers, weight: 1 } } });

/** A restored database: its rows are those of an older time. */
const forget = () => emptyTables(world.db, ['tasks', 'workers', 'jobs']);

test('what the database has lost counts before a worker is made: a job that comes back stays within the cap (E6, C4)', async () => {
  await capAt(2);
  for (const _ of [1, 2]) await followed.startWorker();
  await forget();
  await world.queueJob();
  const scheduler = begin();
  expect(await scheduler.match()).toEqual({ mayMake: true, made: 0, givenBack: 0 });
  expect(await world.workers()).toHaveLength(2);
  expect([scheduler.pods.isSynced(), scheduler.timesSynced()]).toEqual([true, 1]);
});

test('reservations of the backup are given back where the adopted pods leave no room (E6, C4)', async () => {
  await capAt(2);
  for (const _ of [1, 2]) await followed.startWorker();
  await forget();
  await world.queueJob();
  expect(await world.match()).toMatchObject({ reserved: 1 });
  expect(await begin().match()).toEqual({ mayMake: true, made: 0, givenBack: 1 });
});

test('it is due at the start and after each failure of PostgreSQL, and one during a pass is not made good by it', async () => {
  const scheduler = begin();
  await scheduler.mayMake();
  expect(scheduler.pods.isSynced()).toBe(true);
  scheduler.loseConnection();
  expect(scheduler.pods.isSynced()).toBe(false);
  const fails = scheduler.pods.before(() => {
    scheduler.loseConnection();
    return Promise.reject(new Error('cut'));
  }, signal);
  await expect(fails).rejects.toThrow('cut');
  expect([scheduler.pods.isSynced(), scheduler.timesSynced()]).toEqual([false, 1]);
  await scheduler.mayMake();
  expect([scheduler.pods.isSynced(), scheduler.timesSynced()]).toEqual([true, 2]);
});

test('while the cluster is away no worker is made, and the first pass after its return may', async () => {
  const scheduler = begin();
  world.kube.failNext({ status: 503, times: 10_000 });
  expect([await scheduler.mayMake(), scheduler.pods.isSynced()]).toEqual([false, false]);
  world.kube.clearFaults();
  expect([await scheduler.mayMake(), scheduler.pods.isSynced()]).toEqual([true, true]);
});

test.each([[403], [404], [500]])(
  'a namespace that answers %d holds back no other (P6)',
  async (status) => {
    await followed.startWorker();
    await world.db.updateTable('workers').set({ namespace: 'others' }).execute();
    world.kube.failNext({ path: '/namespaces/others/pods$', status, times: 10_000 });
    const scheduler = begin();
    expect([await scheduler.mayMake(), scheduler.pods.isSynced()]).toEqual([true, true]);
  },
);
