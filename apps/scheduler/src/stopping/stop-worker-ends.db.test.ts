import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { callJson, objectPath } from '@paddock/kube/call';
import { connectCluster } from '@paddock/kube/connect';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { examplePools } from '@paddock/testing/demand-rows';
import { schedulerKinds } from '../kinds.ts';
import { startHoldingProxy } from '../scenes/holding-proxy.scene.ts';
import { NAMESPACE, type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { setStopScene, type StopScene } from '../scenes/stop.scene.ts';

/**
 * Runners are not played: pods run until they are ended, their logs stay empty, and GitHub never
 * calls a runner online.
 */
let world: SchedulerWorld;
let scene: StopScene;
let atCluster: Awaited<ReturnType<typeof startHoldingProxy>>;
beforeAll(async () => {
  world = await startSchedulerWorld({ playRunners: false });
  scene = await setStopScene(world);
  atCluster = await startHoldingProxy(world.kube.url);
});
afterAll(async () => {
  await world.stop();
  await atCluster.stop();
});
beforeEach(() => world.reset());
afterEach(() => scene.cancelAll());

const startsWith = (start: string) =>
  world.putPools(
    examplePools({
      pools: [{ template: { metadata: { annotations: { 'test.paddock/start': start } } } }],
    }),
  );

/**
 * Deregisters the stopping workers. Then continues as an executor whose calls of the cluster go
 * through the proxy, up to the deletion.
 */
async function endSlowly(): Promise<void> {
  const kubeconfigFile = world.kube.writeKubeconfig(atCluster.url);
  const cluster = connectCluster({
    kubeconfigFile,
    requestTimeoutMs: FAR_BEYOND_ANY_TEST_MS,
  });
  try {
    for (let run = 0; run < RUNS_TO_DEREGISTER; run += 1) {
      await world.runTasks();
      await scene.letTimePass();
    }
    await runDueTasks({
      db: world.db,
      kinds: schedulerKinds({ ...world.parts, cluster }),
      holder: 'slow',
      random: () => 0.5,
    });
  } finally {
    cluster.close();
  }
}

/** Two questions to GitHub whether the runner is idle. */
const RUNS_TO_DEREGISTER = 2;
const FAR_BEYOND_ANY_TEST_MS = 300_000;

const deletions = () => world.kube.report().calls['delete pods'] ?? 0;
const logReads = () => world.kube.report().calls['get pods/log'] ?? 0;

describe('a pod that runs', () => {
  test('without its runner ever coming online: deregistered, the log read again, the pod deleted, the row ended failed (E5, A3)', async () => {
    const podName = await scene.startUnregistered();
    await scene.askToStop(podName, 'not_registered');
    const before = deletions();
    await world.runTasks();
    await scene.letTimePass();
    await world.runTasks();
    expect(await scene.runner(podName)).toBeUndefined();
    expect(deletions()).toBe(before);
    expect(await scene.pod(podName)).toMatchObject({ phase: 'Running' });

    await scene.letEnd(podName);
    expect(deletions()).toBe(before + 1);
    const row = await scene.row(podName);
    expect(row).toMatchObject({
      status: 'failed',
      stop_reason: 'not_registered',
      failure_info: { version: 2 },
    });
    // Pods have whole seconds.
    expect(row.completed_at?.getTime()).toBeGreaterThanOrEqual(
      row.running_at?.getTime() ?? Infinity,
    );
    expect(await world.failing()).toMatchObject([
      { entity: 'acme', pool: 'linux', failureClass: 'not_registered', failures: 1 },
    ]);
  });

  test('and changes between the look and the deletion: it is not deleted, and decided about again (E5, A3)', async () => {
    const podName = await scene.startUnregistered();
    await scene.askToStop(podName, 'not_registered');
    const path = objectPath(NAMESPACE, 'pods', podName);
    const held = atCluster.hold({ method: 'DELETE', path: `${path}$`, at: 'call' });
    const ended = endSlowly();
    await Promise.race([
      held.reached,
      ended.then(() => Promise.reject(new Error('The pod was never deleted.'))),
    ]);
    const body = { metadata: { annotations: { 'test.paddock/seen': 'by another client' } } };
    await callJson(world.cluster, {
      method: 'PATCH',
      path,
      body,
      contentType: 'application/merge-patch+json',
    });
    const before = deletions();
    held.release();
    await ended;
    expect(deletions()).toBe(before + 1);
    const pod = await scene.pod(podName);
    expect(pod).toMatchObject({ phase: 'Running' });
    expect(pod?.deletionTimestamp).toBeUndefined();

    await scene.letTimePass();
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({
      status: 'failed',
      stop_reason: 'not_registered',
    });
  });

  test('and is bound to a job while its log is read for the last time: it is not deleted (E5, P2)', async () => {
    const podName = await scene.startUnregistered();
    await scene.askToStop(podName, 'not_registered');
    const held = atCluster.hold({ method: 'GET', path: '/log$', at: 'answer' });
    const ended = endSlowly();
    await Promise.race([
      held.reached,
      ended.then(() => Promise.reject(new Error('Its log was never read.'))),
    ]);
    await world.db.updateTable('workers').set({ assigned_at: new Date() }).execute();
    const before = deletions();
    held.release();
    await ended;
    expect(deletions()).toBe(before);
    await scene.letTimePass();
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({
      status: 'running',
      stopping_at: null,
      assigned_at: expect.any(Date),
    });
    expect(await scene.pod(podName)).toMatchObject({ phase: 'Running' });
  });

  test('is not deleted by a run whose lease is about to end (D6, P2)', async () => {
    const podName = await scene.startUnregistered();
    await scene.askToStop(podName, 'not_registered');
    for (let run = 0; run < RUNS_TO_DEREGISTER; run += 1) {
      await world.runTasks();
      await scene.letTimePass();
    }
    const before = deletions();
    await world.runTasks('short', 1);
    expect(deletions()).toBe(before);
    expect(await scene.pod(podName)).toMatchObject({ phase: 'Running' });
  });

  test('with the name of its worker, but not the worker’s pod, stays untouched (E5)', async () => {
    const podName = await scene.startUnregistered();
    await world.db
      .updateTable('workers')
      .set({ pod_uid: 'of-the-pod-that-was-here-before' })
      .execute();
    await scene.askToStop(podName);
    const before = deletions();
    await scene.letEnd(podName, { minutes: 11 });
    expect(await scene.row(podName)).toMatchObject({ status: 'failed' });
    expect(deletions()).toBe(before);
    expect(await scene.pod(podName)).toMatchObject({ phase: 'Running' });
  });
});

describe('a pod that does not start', () => {
  test('is deleted once its node has said twice that it has no log of it, before and after the deregistration, and no run is read (E5)', async () => {
    await startsWith('image-pull-error');
    const podName = await scene.startUnregistered('Pending');
    const before = logReads();
    await scene.askToStop(podName, 'pending_timeout');
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({
      status: 'failed',
      stop_reason: 'pending_timeout',
      running_at: null,
    });
    expect(await scene.runner(podName)).toBeUndefined();
    expect(logReads()).toBe(before + 2);
    expect(
      (await world.gitHub.report()).calls['actions/list-jobs-for-workflow-run'],
    ).toBeUndefined();
  });
});

test('a pod that cannot be deleted: the row goes on and says why, and the pod is never forced', async () => {
  const podName = await scene.startUnregistered();
  world.kube.failNext({ method: 'DELETE', path: '/pods/', status: 500, times: 1_000 });
  await scene.askToStop(podName, 'not_registered');
  await scene.letEnd(podName, { attempts: 6 });
  expect(await scene.row(podName)).toMatchObject({
    status: 'running',
    stop_held_by: expect.any(String),
  });
  world.kube.clearFaults();
  await scene.letEnd(podName);
  expect(await scene.row(podName)).toMatchObject({ status: 'failed', stop_held_by: null });
});
