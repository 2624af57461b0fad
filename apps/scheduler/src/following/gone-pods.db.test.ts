import { describe, expect, test } from '@jest/globals';
import { deletePod } from '@paddock/kube/pods';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { findKnownPods } from '@paddock/db/workers/worker-pods';
import { takeChanges, takeList } from './follow-pods.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);

describe('a pod that is gone', () => {
  test.each(['deleted before our eyes', 'missing from a list'])(
    'ends no row; its worker is no longer supply and counts in the caps: %s (A3, C3, P1)',
    async (how) => {
      await world.putPools(examplePools({ pools: [{ maxWorkers: 2 }] }));
      const name = await pods.startWorker();
      await pods.relist();
      const pod = await pods.podOf(name);
      await deletePod(world.cluster, { namespace: 'runners', name });
      await waitFor('the pod to be gone', async () => (await pods.podOf(name)) === undefined);
      if (how === 'missing from a list') await pods.relist();
      else if (pod !== undefined)
        await takeChanges(pods.parts, [
          { type: 'deleted', pod, resourceVersion: pod.resourceVersion },
        ]);
      expect(await pods.row(name)).toMatchObject({
        status: 'running',
        stop_reason: 'pod_gone',
        completed_at: null,
      });
      expect((await pods.row(name))?.stopping_at).not.toBeNull();
      expect((await world.match()).reserved).toBe(1);
      await world.queueJob();
      expect((await world.match()).reserved).toBe(0);
    },
  );

  test('a list from before the pod was made proves nothing about it, at any age of the worker (C8)', async () => {
    await world.queueJob();
    await world.match();
    const [known, shown] = [await findKnownPods(world.db, 'runners'), await pods.list()];
    await world.runTasks();
    await world.db
      .updateTable('workers')
      .set({ created_at: new Date(Date.now() - 3_600_000) })
      .execute();
    await takeList(pods.parts, 'runners', shown, known);
    expect(await world.workers()).toMatchObject([
      { pod_uid: expect.any(String), stopping_at: null },
    ]);
  });

  test('deleted with its end unseen: the end in its last state counts (C8)', async () => {
    const name = await pods.startWorker('succeeded');
    const pod = await pods.podOf(name);
    if (pod !== undefined)
      await takeChanges(pods.parts, [
        { type: 'deleted', pod, resourceVersion: pod.resourceVersion },
      ]);
    const worker = await pods.row(name);
    expect(worker).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(worker?.pod_deleted_at).not.toBeNull();
  });
});

describe('followPods', () => {
  test('learns from its first list which pods went while no replica followed, even those just made (C8)', async () => {
    const name = await pods.startWorker();
    await deletePod(world.cluster, { namespace: 'runners', name });
    await waitFor('the pod to be gone', async () => (await pods.podOf(name)) === undefined);
    const follow = async () => {
      const stop = world.follow();
      await waitFor(
        'the absence to be noted',
        async () => (await pods.row(name))?.stop_reason === 'pod_gone',
      );
      await stop();
    };
    expect(await world.growth('paddock_events_total{event="podsVanished"}', follow)).toBe(1);
    expect(await pods.row(name)).toMatchObject({ completed_at: null });
  });

  test('goes on through cut watches and forgotten versions, with two followers beside each other (C8)', async () => {
    const stops = [world.follow(), world.follow()];
    const first = await pods.startWorker();
    await waitFor(
      'the first worker to run',
      async () => (await pods.row(first))?.status === 'running',
    );
    world.kube.cutWatches();
    world.kube.compact();
    const second = await pods.startWorker();
    await waitFor(
      'the second worker to run',
      async () => (await pods.row(second))?.status === 'running',
    );
    world.kube.endPod({ namespace: 'runners', name: first, end: 'succeeded' });
    await waitFor(
      'the first worker to end',
      async () => (await pods.row(first))?.status === 'completed',
    );
    expect((await pods.row(second))?.status).toBe('running');
    await Promise.all(stops.map((stop) => stop()));
  });

  test('begins to follow a namespace when a pool comes to use it (C8)', async () => {
    const stop = world.follow();
    await waitFor('the first watch', () => world.kube.report().openWatches === 1);
    const document = structuredClone(world.pools);
    document.pools.push({ ...pool(), name: 'other', labels: ['other'], namespace: 'others' });
    await world.putPools(document);
    expect(await waitFor('the second watch', () => world.kube.report().openWatches === 2)).toBe(
      true,
    );
    await stop();
  });

  test('follows a namespace that a pool has left until its last worker has ended (C8)', async () => {
    const name = await pods.startWorker();
    await world.putPools({ ...world.pools, pools: [{ ...pool(), namespace: 'others' }] });
    const stop = world.follow();
    await waitFor('both watches', () => world.kube.report().openWatches === 2);
    world.kube.endPod({ namespace: 'runners', name, end: 'succeeded' });
    await waitFor('the worker to end', async () => (await pods.row(name))?.status === 'completed');
    // A watch ends by itself after 96 s at the soonest, and begins again.
    const oneLess = () => world.kube.report().openWatches === 1;
    expect(await waitFor('one watch less', oneLess, { timeoutMs: 60_000 })).toBe(true);
    await stop();
  });
});

function pool() {
  const [first] = world.pools.pools;
  if (first === undefined) throw new Error('there is no pool');
  return first;
}
