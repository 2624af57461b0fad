import { describe, expect, test } from '@jest/globals';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { noteStuckPods, takeList } from './follow-pods.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const followed = useFollowedPods(world);
const relist = async () => takeList(followed.parts, 'runners', await followed.list(), []);
const diagnoses = async () =>
  (
    await world.db
      .selectFrom('tasks')
      .select('subject_id')
      .where('kind', '=', 'diagnose-pod')
      .execute()
  ).map((task) => task.subject_id);

/** A worker of a pool whose pods start as the annotation says, seen in that state. */
async function startWorker(start: string | undefined, isSo: (pod: ObservedPod) => boolean) {
  const annotations = start === undefined ? {} : { 'test.paddock/start': start };
  await world.putPools(examplePools({ pools: [{ template: { metadata: { annotations } } }] }));
  await world.queueJob();
  await world.match();
  await world.runTasks();
  const pod = await waitFor('the pod to be as wanted', async () =>
    (await followed.list()).find(isSo),
  );
  await relist();
  return pod;
}

async function row(podName: string) {
  return world.db
    .selectFrom('workers')
    .selectAll()
    .where('pod_name', '=', podName)
    .executeTakeFirstOrThrow();
}

const age = (podName: string, column: 'pod_created_at' | 'terminating_at') =>
  world.db
    .updateTable('workers')
    .set({ [column]: minutesAgo(10) })
    .where('pod_name', '=', podName)
    .execute();

describe('a pod that does not start (C8, P5)', () => {
  test.each([
    [
      'image-pull-error',
      'image_pull',
      'Back-off pulling image',
      [{ pool: 'linux', failureClass: 'image_pull', failures: 1 }],
    ],
    ['unschedulable', 'unschedulable', '0/1 nodes are available: 1 Insufficient cpu.', []],
  ])(
    'for %s says so in its row at once, is diagnosed once, and counts against its key if that is at fault',
    async (start, reason, why, counted) => {
      const pod = await startWorker(
        start,
        ({ waitingReason, unschedulable }) => (waitingReason ?? unschedulable) !== undefined,
      );
      expect(await row(pod.name)).toMatchObject({
        status: 'pending',
        stuck_reason: reason,
        failure_info: { version: 1 },
      });
      expect((await row(pod.name)).stuck_at).not.toBeNull();
      expect(await diagnoses()).toEqual([pod.name]);
      await world.runTasks();
      expect((await row(pod.name)).failure_info).toMatchObject({
        version: 2,
        reason,
        message: expect.stringContaining(why),
        events: expect.arrayContaining([expect.objectContaining({ type: 'Warning' })]),
      });
      const before = await row(pod.name);
      await relist();
      await followed.see(pod, { resourceVersion: '2' });
      expect(await row(pod.name)).toEqual(before);
      expect(await diagnoses()).toEqual([]);
      expect(await world.failing()).toMatchObject(counted);
    },
  );

  test('and reports no reason is found by its age, once, and shows its events (C8)', async () => {
    const pod = await startWorker('never', ({ nodeName }) => nodeName !== undefined);
    expect(await noteStuckPods(followed.parts)).toBe(0);
    await age(pod.name, 'pod_created_at');
    const noteTwice = async () =>
      expect(
        await Promise.all([noteStuckPods(followed.parts), noteStuckPods(followed.parts)]),
      ).toEqual(expect.arrayContaining([0, 1]));
    expect(await world.growth('paddock_events_total{event="podStuck"}', noteTwice)).toBe(1);
    expect(await diagnoses()).toEqual([pod.name]);
    await world.runTasks();
    await relist();
    expect(await noteStuckPods(followed.parts)).toBe(0);
    expect(await row(pod.name)).toMatchObject({
      status: 'pending',
      stuck_reason: 'slow_start',
      failure_info: {
        version: 2,
        reason: 'slow_start',
        events: [expect.objectContaining({ reason: 'Scheduled' })],
      },
    });
    await followed.see(pod, { phase: 'Running', runningAt: new Date() });
    expect(await row(pod.name)).toMatchObject({
      status: 'running',
      stuck_reason: null,
      failure_info: null,
    });
  });
});

describe('a pod that is deleted and does not go (A3, P2)', () => {
  test('ends no row, is reported as stuck after its term, and is diagnosed once, even if its node reports more', async () => {
    const pod = await startWorker(undefined, ({ phase }) => phase === 'Running');
    const deleted = { deletionTimestamp: new Date(Date.now() + 30_000) };
    await followed.see(pod, deleted);
    expect((await row(pod.name)).terminating_at).toEqual(deleted.deletionTimestamp);
    expect(await noteStuckPods(followed.parts)).toBe(0);
    await age(pod.name, 'terminating_at');
    expect(await noteStuckPods(followed.parts)).toBe(1);
    await world.runTasks();
    await followed.see(pod, { ...deleted, phase: 'Unknown' });
    expect(await noteStuckPods(followed.parts)).toBe(0);
    expect(await row(pod.name)).toMatchObject({
      status: 'running',
      completed_at: null,
      stuck_reason: 'terminating',
      failure_info: { version: 2, reason: 'terminating' },
    });
  });
});

test('a late diagnosis does not overwrite a worker that has recovered meanwhile (D6)', async () => {
  const pod = await startWorker(
    'image-pull-error',
    ({ waitingReason }) => waitingReason === 'ImagePullBackOff',
  );
  await world.db.updateTable('workers').set({ stuck_reason: null, failure_info: null }).execute();
  await world.runTasks();
  expect((await row(pod.name)).failure_info).toBeNull();
});
