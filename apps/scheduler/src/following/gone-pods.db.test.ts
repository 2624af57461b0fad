import { describe, expect, test } from '@jest/globals';
import { findKnownPods } from '@paddock/db/workers/worker-pods';
import { minutesAgo } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { change } from '../scenes/followed-pods.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { takeChanges } from './follow-pods.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);

const hasStatus = (name: string, status: string) =>
  waitFor(`the worker to be ${status}`, async () => (await pods.row(name)).status === status);
const areOpen = (count: number) =>
  // A watch ends by itself after 96 s at the soonest, and begins again.
  waitFor(`${count} watches`, () => world.kube.report().openWatches === count, {
    timeoutMs: 60_000,
  });

describe('a pod that is gone', () => {
  test.each(['deleted before our eyes', 'missing from a list'])(
    'ends no row; its worker is no longer supply and counts in the caps: %s (A3, C3, P1)',
    async (how) => {
      await world.putPools({ pools: [{ maxWorkers: 2 }] });
      const pod = await pods.makePod();
      await pods.relist();
      await pods.losePod(pod.name);
      if (how === 'missing from a list') await pods.relist();
      else await takeChanges(pods.parts, [change('deleted', pod)]);
      expect(await pods.row(pod.name)).toMatchObject({
        status: 'running',
        stop_reason: 'pod_gone',
        stopping_at: expect.any(Date),
        completed_at: null,
      });
      expect(await world.match()).toMatchObject({ reserved: 1 });
      await world.queueJob();
      expect(await world.match()).toMatchObject({ reserved: 0 });
    },
  );

  test('a list from before the pod was made proves nothing about it, at any age of the worker (C8)', async () => {
    await world.queueJob();
    await world.match();
    const [known, shown] = [await findKnownPods(world.db, 'runners'), await pods.list()];
    await world.runTasks();
    await world.db
      .updateTable('workers')
      .set({ created_at: minutesAgo(60) })
      .execute();
    await pods.take(shown, known);
    expect(await world.workers()).toMatchObject([
      { pod_uid: expect.any(String), stopping_at: null },
    ]);
  });

  test('deleted with its end unseen: the end in its last state counts (C8)', async () => {
    const { name } = await pods.makePod();
    await pods.endPod(name, 'succeeded');
    for (const pod of await pods.list()) await takeChanges(pods.parts, [change('deleted', pod)]);
    expect(await pods.row(name)).toMatchObject({
      status: 'completed',
      exit_code: 0,
      pod_deleted_at: expect.any(Date),
    });
  });

  test('a list that lacks the pod of an ended worker for once makes no leftover of it (C8, E7)', async () => {
    const name = await pods.startWorker('succeeded');
    await pods.relist();
    await pods.take([], [name]);
    expect(await pods.row(name)).toMatchObject({ pod_deleted_at: expect.any(Date) });
    await pods.relist();
    expect(await pods.row(name)).toMatchObject({ status: 'completed', pod_deleted_at: null });
  });

  test('one empty list takes no worker for lost, two take all (C8, P1, P6)', async () => {
    await pods.makeWorkers(10);
    await pods.relist();
    const lists = () => world.kube.report().calls['list pods'] ?? 0;
    const reasons = async () =>
      new Set((await world.workers()).map(({ stop_reason }) => stop_reason));

    world.kube.failNext({ verb: 'list', path: '/pods$', empty: true });
    const before = lists();
    const stop = world.follow({ confirmAfterMs: 1 });
    await waitFor('a second list', () => lists() >= before + 2);
    await stop();
    expect(await reasons()).toEqual(new Set([null]));

    world.kube.failNext({ verb: 'list', path: '/pods$', empty: true, times: 2 });
    const stopAgain = world.follow({ confirmAfterMs: 1 });
    await waitFor('the workers to be taken for lost', async () =>
      (await reasons()).has('pod_gone'),
    );
    await stopAgain();
    expect(await reasons()).toEqual(new Set(['pod_gone']));
  });
});

describe('followPods', () => {
  test('learns from its first list which pods went while no replica followed, even those just made (C8)', async () => {
    const name = await pods.startWorker();
    await pods.losePod(name);
    const follow = async () => {
      const stop = world.follow();
      await waitFor(
        'the absence to be noted',
        async () => (await pods.row(name)).stop_reason === 'pod_gone',
      );
      await stop();
    };
    expect(await world.growth('paddock_events_total{event="podsVanished"}', follow)).toBe(1);
    expect(await pods.row(name)).toMatchObject({ completed_at: null });
  });

  test('goes on through cut watches and forgotten versions, with two followers beside each other (C8)', async () => {
    const stops = [world.follow(), world.follow()];
    const first = await pods.startWorker();
    await hasStatus(first, 'running');
    world.kube.cutWatches();
    world.kube.compact();
    const second = await pods.startWorker();
    await hasStatus(second, 'running');
    await pods.endPod(first, 'succeeded');
    await hasStatus(first, 'completed');
    expect(await pods.row(second)).toMatchObject({ status: 'running' });
    await Promise.all(stops.map((stop) => stop()));
  });

  test('follows a namespace that a pool begins to use, and one that it has left until its last worker has ended (C8)', async () => {
    const stop = world.follow();
    await areOpen(1);
    const name = await pods.startWorker();
    await world.putPools({ pools: [{ namespace: 'others' }] });
    await areOpen(2);
    await pods.endPod(name, 'succeeded');
    await hasStatus(name, 'completed');
    expect(await areOpen(1)).toBe(true);
    await stop();
  });
});
