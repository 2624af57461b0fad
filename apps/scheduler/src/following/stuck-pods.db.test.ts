import { describe, expect, test } from '@jest/globals';
import { findUnstartableWorkers } from '@paddock/db/workers/stuck-pods';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/demand-rows';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { noteStuckPods } from './follow-pods.ts';
import { stopUnstartable } from './stop-unstartable.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);

const saysWhy = ({ waitingReason, unschedulable }: ObservedPod) =>
  (waitingReason ?? unschedulable) !== undefined;
const hasNode = ({ nodeName }: ObservedPod) => nodeName !== undefined;
const noteStuck = () => noteStuckPods(pods.parts);

/** A worker of a pool whose pods start as the annotation says, seen in that state. */
async function startAs(start: string, isSo = saysWhy): Promise<ObservedPod> {
  await pods.startsWith(start);
  const pod = await pods.makePod(isSo);
  await pods.relist();
  return pod;
}

describe('a pod that does not start (C8, P5)', () => {
  test.each([
    [
      'image-pull-error',
      'image_pull',
      'Back-off pulling image',
      [
        {
          pool: 'linux',
          failureClass: 'image_pull',
          failures: 1,
          message: expect.stringMatching(
            /^the pod \S+ does not start: ImagePullBackOff: Back-off pulling image$/,
          ),
        },
      ],
    ],
    ['unschedulable', 'unschedulable', '0/1 nodes are available: 1 Insufficient cpu.', []],
  ])(
    'for %s says so in its row at once, is diagnosed once, and counts against its key if that is at fault',
    async (start, reason, why, counted) => {
      const pod = await startAs(start);
      expect(await pods.row(pod.name)).toMatchObject({
        status: 'pending',
        stuck_reason: reason,
        stuck_at: expect.any(Date),
        failure_info: { version: 1 },
      });
      expect(await pods.tasks()).toEqual(['diagnose-pod']);
      await world.runTasks();
      const before = await pods.row(pod.name);
      expect(before.failure_info).toMatchObject({
        version: 2,
        reason,
        message: expect.stringContaining(why),
        events: expect.arrayContaining([expect.objectContaining({ type: 'Warning' })]),
      });
      await pods.relist();
      await pods.see(pod, { resourceVersion: '2' });
      expect(await pods.row(pod.name)).toEqual(before);
      expect(await pods.tasks()).toEqual([]);
      expect(await world.failing()).toMatchObject(counted);
    },
  );

  test('and reports no reason is found by its age, once, and shows its events (C8)', async () => {
    const pod = await startAs('never', hasNode);
    expect(await noteStuck()).toBe(0);
    await pods.set(pod.name, { pod_created_at: minutesAgo(10) });
    const noteTwice = async () =>
      expect((await Promise.all([noteStuck(), noteStuck()])).toSorted()).toEqual([0, 1]);
    expect(await world.growth('paddock_events_total{event="podStuck"}', noteTwice)).toBe(1);
    expect(await pods.tasks()).toEqual(['diagnose-pod']);
    await world.runTasks();
    await pods.relist();
    expect(await noteStuck()).toBe(0);
    expect(await pods.row(pod.name)).toMatchObject({
      status: 'pending',
      stuck_reason: 'slow_start',
      failure_info: {
        version: 2,
        reason: 'slow_start',
        events: [expect.objectContaining({ reason: 'Scheduled' })],
      },
    });
    await pods.see(pod, { phase: 'Running', runningAt: new Date() });
    expect(await pods.row(pod.name)).toMatchObject({
      status: 'running',
      stuck_reason: null,
      failure_info: null,
    });
  });

  test('and recovers: a late diagnosis does not overwrite that (D6)', async () => {
    const { name } = await startAs('image-pull-error');
    await pods.set(name, { stuck_reason: null, failure_info: null });
    await world.runTasks();
    expect(await pods.row(name)).toMatchObject({ failure_info: null });
  });
});

test('a pod that is deleted and does not go ends no row, is reported as stuck after its term, and is diagnosed once, even if its node reports more (A3, P2)', async () => {
  const pod = await pods.makePod();
  const deletionTimestamp = new Date(Date.now() + 30_000);
  await pods.see(pod, { deletionTimestamp });
  expect(await pods.row(pod.name)).toMatchObject({ terminating_at: deletionTimestamp });
  expect(await noteStuck()).toBe(0);
  await pods.set(pod.name, { terminating_at: minutesAgo(10) });
  expect(await noteStuck()).toBe(1);
  await world.runTasks();
  await pods.see(pod, { deletionTimestamp, phase: 'Unknown' });
  expect(await noteStuck()).toBe(0);
  expect(await pods.row(pod.name)).toMatchObject({
    status: 'running',
    completed_at: null,
    stuck_reason: 'terminating',
    failure_info: { version: 2, reason: 'terminating' },
  });
});

const stopHopeless = (signal = new AbortController().signal) => stopUnstartable(pods.parts, signal);
/** As if all that fail had done so for a minute. */
const passMinute = () =>
  world.db
    .updateTable('workers')
    .set({ stuck_at: minutesAgo(1) })
    .where('stuck_at', 'is not', null)
    .execute();

describe('a worker whose pod cannot start (C8, C11)', () => {
  test('is asked to stop once its kubelet has tried for half a minute, once, and is replaced', async () => {
    const { name } = await startAs('image-pull-error');
    await world.runTasks();
    expect(await stopHopeless()).toBe(0);
    await passMinute();
    const stopFollowing = world.follow();
    await waitFor('its stop', async () => (await pods.row(name)).stopping_at !== null);
    await stopFollowing();
    expect(await stopHopeless()).toBe(0);
    expect(await pods.tasks()).toEqual(['stop-worker']);
    expect(await pods.row(name)).toMatchObject({
      stop_reason: 'image_pull',
      unexplained_until: null,
      failure_info: { version: 2, reason: 'image_pull' },
    });
    expect(await world.match()).toMatchObject({ reserved: 1 });
  });

  test('is left alone while the API server is away, and by a follower that is ending', async () => {
    await startAs('image-pull-error');
    await passMinute();
    world.kube.failNext({ path: '/events$', status: 503, times: 100 });
    expect(await stopHopeless()).toBe(0);
    world.kube.clearFaults();
    const looks = () => world.kube.report().calls['list events'];
    const before = looks();
    expect(await stopHopeless(AbortSignal.abort())).toBe(0);
    expect(looks()).toBe(before);
    expect(await stopHopeless()).toBe(1);
  });

  test('for a Secret that is missing says which, counts at once, and is stopped likewise', async () => {
    await pods.startsWith('never');
    const pod = await pods.makePod(hasNode);
    const [waitingReason, waitingMessage] = ['CreateContainerConfigError', 'secret "a" not found'];
    await pods.see(pod, { waitingReason, waitingMessage });
    expect(await pods.row(pod.name)).toMatchObject({
      failure_info: { message: `${waitingReason}: ${waitingMessage}` },
    });
    const counted = { failureClass: 'container_config', failures: 1 };
    expect(await world.failing()).toMatchObject([counted]);
    await passMinute();
    expect(await stopHopeless()).toBe(1);
    expect(await pods.row(pod.name)).toMatchObject({ stop_reason: 'container_config' });
  });

  test('the stops of a pool are limited to a number per period', async () => {
    await pods.startsWith('image-pull-error');
    const [first] = await pods.makeWorkers(3, saysWhy);
    await pods.relist();
    await passMinute();
    const bound = { afterMs: 30_000, windowMs: 60_000, mostOfPool: 2 };
    const found = async (mostAtOnce = 10) =>
      (await findUnstartableWorkers(world.db, { ...bound, mostAtOnce })).length;
    expect([await found(1), await found()]).toEqual([1, 2]);
    await pods.set(first?.name ?? '', { stopping_at: new Date(), stop_reason: 'image_pull' });
    expect(await found()).toBe(1);
  });
});
