import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import { findUnstartableWorkers } from '@paddock/db/workers/stuck-pods';
import { callJson, objectPath } from '@paddock/kube/call';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeChanges, takeList } from './follow-pods.ts';
import { stopUnstartable } from './stop-unstartable.ts';

let world: SchedulerWorld;
let instance: string;
beforeAll(async () => {
  world = await startSchedulerWorld({ playRunners: false });
  instance = await findInstance(world.db);
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const parts = () => ({ ...world.parts, ...FOLLOWING });
const list = async () => (await listPods(world.cluster, { namespace: 'runners', instance })).pods;
const seen = (pod: ObservedPod, changed: Partial<ObservedPod> = {}) =>
  takeChanges(parts(), [{ type: 'modified', pod: { ...pod, ...changed }, resourceVersion: '1' }]);

const BROKEN = {
  template: { metadata: { annotations: { 'test.paddock/start': 'image-pull-error' } } },
};
const OTHER = { name: 'other', labels: ['self-hosted', 'other'] };
const breakImage = () => world.putPools(examplePools({ pools: [BROKEN, OTHER] }));
const mendImage = () => world.putPools(examplePools({ pools: [{}, OTHER] }));

/**
 * Makes the wanted workers, and writes the cluster's states once all pods have started or failed.
 */
async function makeWorkers(): Promise<readonly ObservedPod[]> {
  await world.match();
  await world.runTasks();
  const pods = await waitFor('the pods to start or fail', async () => {
    const now = await list();
    return now.every(
      ({ phase, waitingReason }) => phase === 'Running' || waitingReason !== undefined,
    )
      ? now
      : undefined;
  });
  await takeList(parts(), 'runners', pods, []);
  return pods;
}

/** A worker that was seen to fail in its start, and diagnosed. */
async function makeFailing(): Promise<ObservedPod> {
  await breakImage();
  await world.queueJob();
  const [pod] = await makeWorkers();
  if (pod === undefined) throw new Error('no pod was made');
  await world.runTasks();
  return pod;
}

const stopHopeless = () => stopUnstartable(parts(), new AbortController().signal);

/** As if all that fail had done so for a minute. */
const passMinute = () =>
  world.db
    .updateTable('workers')
    .set({ stuck_at: minutesAgo(1) })
    .where('stuck_at', 'is not', null)
    .execute();
const stops = async () =>
  (
    await world.db
      .selectFrom('tasks')
      .select('subject_id')
      .where('kind', '=', 'stop-worker')
      .execute()
  ).map((task) => task.subject_id);

/** A kubelet's report about a pod. */
async function say(
  pod: ObservedPod,
  reason: string,
  at: Date,
  container = 'runner',
): Promise<void> {
  const { namespace, name, uid } = pod;
  const instant = at.toISOString().replace(/\.\d+/, '');
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${container}.${reason.toLowerCase()}`, namespace },
    involvedObject: {
      kind: 'Pod',
      name,
      namespace,
      uid,
      fieldPath: `spec.containers{${container}}`,
    },
    reason,
    message: `${reason} image`,
    type: 'Normal',
    count: 1,
    firstTimestamp: instant,
    lastTimestamp: instant,
    source: { component: 'kubelet' },
  };
  await callJson(world.cluster, { method: 'POST', path: objectPath(namespace, 'events'), body });
}

describe('a worker whose pod cannot start (C8, C11)', () => {
  test('is asked to stop once its kubelet has tried for half a minute, once, and keeps its pod’s reason', async () => {
    const pod = await makeFailing();
    expect(await stopHopeless()).toBe(0);
    await passMinute();
    expect(await stopHopeless()).toBe(1);
    expect(await stopHopeless()).toBe(0);
    expect(await stops()).toEqual([pod.name]);
    const [worker] = await world.workers();
    expect(worker).toMatchObject({ stop_reason: 'image_pull', unexplained_until: null });
    expect(worker?.failure_info).toMatchObject({ version: 2, reason: 'image_pull' });
  });

  test('counts once while its kubelet tries again and again, and its half minute goes on', async () => {
    const pod = await makeFailing();
    await passMinute();
    const [before] = await world.workers();
    for (const waitingReason of ['ErrImagePull', 'ImagePullBackOff', 'ErrImagePull'])
      await seen(pod, { waitingReason });
    expect(await world.workers()).toEqual([before]);
    expect(await world.db.selectFrom('breakers').select('failures').execute()).toEqual([
      { failures: 1 },
    ]);
  });

  test('is replaced at once, and its end says why', async () => {
    const pod = await makeFailing();
    await mendImage();
    await passMinute();
    await stopHopeless();
    await makeWorkers();
    const [first, second] = await world.workers();
    expect(second).toMatchObject({ status: 'running' });
    for (
      let step = 0;
      step < 6 && (await list()).some(({ name }) => name === pod.name);
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
      async () => !(await list()).some(({ name }) => name === pod.name),
    );
    await takeChanges(parts(), [{ type: 'deleted', pod, resourceVersion: '9' }]);
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

  test('is left alone while its image is being pulled again, for any time', async () => {
    const pod = await makeFailing();
    await passMinute();
    const at = new Date(Date.now() + 5_000);
    await say(pod, 'Failed', at, 'sidecar');
    await say(pod, 'Pulling', at);
    expect(await stopHopeless()).toBe(0);
    await say(pod, 'Failed', new Date(Date.now() + 10_000));
    expect(await stopHopeless()).toBe(1);
  });

  test('is left alone while the API server is away, and by a follower that is ending', async () => {
    await makeFailing();
    await passMinute();
    world.kube.failNext({ path: '/events$', status: 503, times: 100 });
    expect(await stopHopeless()).toBe(0);
    world.kube.clearFaults();
    const looks = () => world.kube.report().calls['list events'];
    const before = looks();
    expect(await stopUnstartable(parts(), AbortSignal.abort())).toBe(0);
    expect(looks()).toBe(before);
    expect(await stopHopeless()).toBe(1);
  });

  test('for a Secret that is missing says which, counts at once, and is stopped likewise', async () => {
    await world.putPools(
      examplePools({
        pools: [{ template: { metadata: { annotations: { 'test.paddock/start': 'never' } } } }],
      }),
    );
    await world.queueJob();
    await world.match();
    await world.runTasks();
    const pod = await waitFor('the pod to have a node', async () =>
      (await list()).find(({ nodeName }) => nodeName !== undefined),
    );
    await seen(pod, {
      waitingReason: 'CreateContainerConfigError',
      waitingMessage: 'secret "build-token" not found',
    });
    const [worker] = await world.workers();
    expect(worker?.failure_info).toMatchObject({
      message: 'CreateContainerConfigError: secret "build-token" not found',
    });
    expect(
      await world.db.selectFrom('breakers').select(['failure_class', 'failures']).execute(),
    ).toEqual([{ failure_class: 'container_config', failures: 1 }]);
    await passMinute();
    expect(await stopHopeless()).toBe(1);
    expect(await world.workers()).toMatchObject([{ stop_reason: 'container_config' }]);
  });

  test('and that only takes its time is none', async () => {
    await world.putPools(
      examplePools({
        pools: [{ template: { metadata: { annotations: { 'test.paddock/start': 'never' } } } }],
      }),
    );
    await world.queueJob();
    await world.match();
    await world.runTasks();
    const pod = await waitFor('the pod to have a node', async () =>
      (await list()).find(({ nodeName }) => nodeName !== undefined),
    );
    await seen(pod);
    await world.db
      .updateTable('workers')
      .set({ pod_created_at: minutesAgo(14) })
      .execute();
    await passMinute();
    expect(await stopHopeless()).toBe(0);
    await world.db
      .updateTable('workers')
      .set({ stuck_reason: 'slow_start', stuck_at: minutesAgo(9) })
      .execute();
    expect(await stopHopeless()).toBe(0);
  });

  test('the stops of a pool are limited to a number per period', async () => {
    await breakImage();
    for (let job = 0; job < 3; job += 1) await world.queueJob();
    await makeWorkers();
    await passMinute();
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
