import { describe, expect, test } from '@jest/globals';
import { findUnstartableWorkers } from '@paddock/db/workers/stuck-pods';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { failingStarts } from '../scenes/failing-starts.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { takeChanges } from './follow-pods.ts';
import { stopUnstartable } from './stop-unstartable.ts';

const world = useSchedulerWorld({ playRunners: false });
const followed = useFollowedPods(world);

const starts = failingStarts(world, followed);

const stops = async () =>
  (
    await world.db
      .selectFrom('tasks')
      .select('subject_id')
      .where('kind', '=', 'stop-worker')
      .execute()
  ).map((task) => task.subject_id);

/** A pod on a node that starts nothing in it. */
async function makeStill(): Promise<ObservedPod> {
  const annotations = { 'test.paddock/start': 'never' };
  await world.putPools(examplePools({ pools: [{ template: { metadata: { annotations } } }] }));
  await world.queueJob();
  await world.match();
  await world.runTasks();
  return waitFor('the pod to have a node', async () =>
    (await followed.list()).find(({ nodeName }) => nodeName !== undefined),
  );
}

describe('a worker whose pod cannot start (C8, C11)', () => {
  test('is asked to stop once its kubelet has tried for half a minute, once, and keeps its pod’s reason', async () => {
    const pod = await starts.makeFailing();
    expect(await starts.stopHopeless()).toBe(0);
    await starts.passMinute();
    expect(await starts.stopHopeless()).toBe(1);
    expect(await starts.stopHopeless()).toBe(0);
    expect(await stops()).toEqual([pod.name]);
    const [worker] = await world.workers();
    expect(worker).toMatchObject({ stop_reason: 'image_pull', unexplained_until: null });
    expect(worker?.failure_info).toMatchObject({ version: 2, reason: 'image_pull' });
  });

  test('is replaced at once, and its end says why', async () => {
    const pod = await starts.makeFailing();
    await starts.mendImage();
    await starts.passMinute();
    await starts.stopHopeless();
    await starts.makeWorkers();
    const [first, second] = await world.workers();
    expect(second).toMatchObject({ status: 'running' });
    for (
      let step = 0;
      step < 6 && (await followed.list()).some(({ name }) => name === pod.name);
      step += 1
    ) {
      const past = { idle_since: minutesAgo(2), registration_gone_at: minutesAgo(2) };
      const { registration_gone_at: gone } = (await world.workers())[0] ?? {
        registration_gone_at: null,
      };
      await world.db
        .updateTable('workers')
        .set(gone === null ? { idle_since: past.idle_since } : past)
        .where('pod_name', '=', pod.name)
        .execute();
      await world.makeDue();
      await world.runTasks();
    }
    await waitFor(
      'the pod to go',
      async () => !(await followed.list()).some(({ name }) => name === pod.name),
    );
    await takeChanges(followed.parts, [{ type: 'deleted', pod, resourceVersion: '9' }]);
    await world.makeDue();
    await world.runTasks();
    expect(
      (await world.workers()).find(({ pod_name }) => pod_name === first?.pod_name),
    ).toMatchObject({
      status: 'failed',
      stop_reason: 'image_pull',
      failure_info: { version: 2, reason: 'image_pull' },
    });
  });

  test('is left alone while the API server is away, and by a follower that is ending', async () => {
    await starts.makeFailing();
    await starts.passMinute();
    world.kube.failNext({ path: '/events$', status: 503, times: 100 });
    expect(await starts.stopHopeless()).toBe(0);
    world.kube.clearFaults();
    const looks = () => world.kube.report().calls['list events'];
    const before = looks();
    expect(await stopUnstartable(followed.parts, AbortSignal.abort())).toBe(0);
    expect(looks()).toBe(before);
    expect(await starts.stopHopeless()).toBe(1);
  });

  test('for a Secret that is missing says which, counts at once, and is stopped likewise', async () => {
    const pod = await makeStill();
    await followed.see(pod, {
      waitingReason: 'CreateContainerConfigError',
      waitingMessage: 'secret "build-token" not found',
    });
    const [worker] = await world.workers();
    expect(worker?.failure_info).toMatchObject({
      message: 'CreateContainerConfigError: secret "build-token" not found',
    });
    expect(await world.failing()).toMatchObject([
      { failureClass: 'container_config', failures: 1 },
    ]);
    await starts.passMinute();
    expect(await starts.stopHopeless()).toBe(1);
    expect(await world.workers()).toMatchObject([{ stop_reason: 'container_config' }]);
  });

  test('the stops of a pool are limited to a number per period', async () => {
    await starts.breakImage();
    for (let job = 0; job < 3; job += 1) await world.queueJob();
    await starts.makeWorkers();
    await starts.passMinute();
    const bound = { afterMs: 30_000, windowMs: 60_000, mostOfPool: 2 };
    const found = async (mostAtOnce = 10) =>
      (await findUnstartableWorkers(world.db, { ...bound, mostAtOnce })).length;
    expect([await found(1), await found()]).toEqual([1, 2]);
    const [first] = await world.workers();
    await world.db
      .updateTable('workers')
      .set({ stopping_at: new Date(), stop_reason: 'image_pull' })
      .where('pod_name', '=', first?.pod_name ?? '')
      .execute();
    expect(await found()).toBe(1);
  });
});
