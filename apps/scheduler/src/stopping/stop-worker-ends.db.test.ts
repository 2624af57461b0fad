import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { callJson, objectPath } from '@paddock/kube/call';
import { sql } from 'kysely';
import type { HeldCall } from '../scenes/proxies.scene.ts';
import { NAMESPACE } from '../scenes/scheduler.scene.ts';
import {
  useSchedulerWorld,
  useStalledRuns,
  useStopScene,
} from '../scenes/use-scheduler-world.scene.ts';

/**
 * Runners are not played: pods run until they are ended, their logs stay empty, and GitHub calls a
 * runner online only where a test connects it.
 */
const world = useSchedulerWorld({ playRunners: false });
const scene = useStopScene(world);
const runs = useStalledRuns(world);

const calls = () => world.kube.report().calls;
let earlier = 0;
beforeEach(() => {
  earlier = calls()['delete pods'] ?? 0;
});
/** How many deletions of a pod a test has asked for. */
const deletions = () => (calls()['delete pods'] ?? 0) - earlier;
const runsRead = async () =>
  (await world.gitHub.report()).calls['actions/list-jobs-for-workflow-run'] ?? 0;
const secretOf = (podName: string) =>
  world.kube.report().secretsLeft.find((name) => name === `runners/${podName}`);

/** Asks twice whether the runner is idle, and deregisters it. */
async function letDeregister(podName: string): Promise<void> {
  await scene.askToStop(podName, 'not_registered');
  for (let run = 0; run < 2; run += 1) {
    await world.runTasks();
    await scene.letTimePass();
  }
}

/**
 * Stops a worker up to its deletion, and holds the run at a call until `meanwhile` is done. Returns
 * by how many deletions that was.
 */
async function endSlowly(podName: string, call: HeldCall, meanwhile: () => Promise<unknown>) {
  await letDeregister(podName);
  const goOn = await runs.stallAt({ ...call, side: 'cluster' });
  await meanwhile();
  const before = deletions();
  await goOn();
  return deletions() - before;
}

const WORKS = { phase: 'Running', deletionTimestamp: undefined };

describe('a pod that runs', () => {
  test('without its runner ever coming online: deregistered, the log read again, the pod deleted, the row ended failed (E5, A3)', async () => {
    const podName = await scene.startUnregistered();
    await letDeregister(podName);
    expect(await scene.runner(podName)).toBeUndefined();
    expect(deletions()).toBe(0);
    expect(await scene.pod(podName)).toMatchObject(WORKS);

    const row = await scene.letEnd(podName);
    expect(deletions()).toBe(1);
    expect(row).toMatchObject({
      status: 'failed',
      stop_reason: 'not_registered',
      failure_info: { version: 2 },
    });
    // Pods have whole seconds.
    expect(Number(row.completed_at)).toBeGreaterThanOrEqual(Number(row.running_at));
    expect(await world.failing()).toMatchObject([
      { entity: 'acme', pool: 'linux', failureClass: 'not_registered', failures: 1 },
    ]);
  });

  test('and changes between the look and the deletion: it is not deleted, and decided about again (E5, A3)', async () => {
    const podName = await scene.startUnregistered();
    const path = objectPath(NAMESPACE, 'pods', podName);
    const deletion = { method: 'DELETE', path: `${path}$`, at: 'call' } as const;
    const tried = await endSlowly(podName, deletion, () =>
      callJson(world.cluster, {
        method: 'PATCH',
        path,
        body: { metadata: { annotations: { 'test.paddock/seen': 'by another client' } } },
        contentType: 'application/merge-patch+json',
      }),
    );
    expect(tried).toBe(1);
    expect(await scene.pod(podName)).toMatchObject(WORKS);
    await scene.letTimePass();
    expect(await scene.letEnd(podName)).toMatchObject({ stop_reason: 'not_registered' });
    expect(await scene.pod(podName)).toBeUndefined();
  });

  test('and is bound to a job while its log is read for the last time: it is not deleted (E5, P2)', async () => {
    const podName = await scene.startUnregistered();
    const lastLook = { method: 'GET', path: '/log$', at: 'answer' } as const;
    const bind = () => scene.set(podName, { assigned_at: new Date() });
    expect(await endSlowly(podName, lastLook, bind)).toBe(0);
    await scene.letTimePass();
    expect(await scene.letEnd(podName)).toMatchObject({
      status: 'running',
      stopping_at: null,
      assigned_at: expect.any(Date),
    });
    expect(await scene.pod(podName)).toMatchObject(WORKS);
  });

  test('is not deleted by a run whose lease is about to end (D6, P2)', async () => {
    const podName = await scene.startUnregistered();
    await letDeregister(podName);
    await world.runTasks('short', 1);
    expect(deletions()).toBe(0);
    expect(await scene.pod(podName)).toMatchObject(WORKS);
  });

  test('with the name of its worker, but not the worker’s pod, stays untouched (E5)', async () => {
    const podName = await scene.startUnregistered();
    await scene.set(podName, { pod_uid: 'of-the-pod-that-was-here-before' });
    expect(await scene.stop(podName, 'idle', { minutes: 11 })).toMatchObject({ status: 'failed' });
    expect(deletions()).toBe(0);
    expect(await scene.pod(podName)).toMatchObject(WORKS);
  });

  test('and loses its labels: the follower does not see its end, and its row ends all the same (A3, C4)', async () => {
    const podName = await scene.startUnregistered();
    await scene.endPod(podName, 'succeeded');
    await callJson(world.cluster, {
      method: 'PATCH',
      path: objectPath(NAMESPACE, 'pods', podName),
      body: { metadata: { labels: { 'paddock.dev/instance': null } } },
      contentType: 'application/merge-patch+json',
    });
    expect(await scene.stop(podName, 'over', { attempts: 3 })).toMatchObject({
      status: 'completed',
      stop_reason: 'over',
      exit_code: 0,
    });
    expect(deletions()).toBe(0);
  });

  test('and cannot be deleted: the row goes on and says why, and the pod is never forced', async () => {
    const podName = await scene.startUnregistered();
    world.kube.failNext({ method: 'DELETE', path: '/pods/', status: 500, times: 1_000 });
    const held = { status: 'running', stop_held_by: expect.any(String) };
    expect(await scene.stop(podName, 'not_registered', { attempts: 6 })).toMatchObject(held);
    world.kube.clearFaults();
    const ended = { status: 'failed', stop_held_by: null };
    expect(await scene.letEnd(podName)).toMatchObject(ended);
  });
});

async function startAs(start: string): Promise<string> {
  await scene.startsWith(start);
  return scene.startUnregistered('Pending');
}

describe('a pod that does not start', () => {
  test('is deleted once its node has said twice that it has no log of it, before and after the deregistration, and no run is read (E5)', async () => {
    const podName = await startAs('image-pull-error');
    const before = calls()['get pods/log'] ?? 0;
    expect(await scene.stop(podName, 'pending_timeout')).toMatchObject({
      status: 'failed',
      stop_reason: 'pending_timeout',
      running_at: null,
    });
    expect(await scene.runner(podName)).toBeUndefined();
    expect(calls()['get pods/log']).toBe(before + 2);
    expect(await runsRead()).toBe(0);
  });

  test('on no node: it ends although GitHub does not answer, its registration is left for later, and no failure of its key (C11, P6)', async () => {
    const podName = await startAs('unschedulable');
    await world.gitHub.failNext({ path: '/actions/runners', status: 502, times: 1_000 });
    const ended = { status: 'failed', registration_gone_at: null };
    expect(await scene.stop(podName, 'pending_timeout', { attempts: 1 })).toMatchObject(ended);
    expect(await scene.pod(podName)).toBeUndefined();
    expect(await world.failing()).toEqual([]);
  });

  test('on no node, but its runner is online: somebody runs it elsewhere, and it stays (P2)', async () => {
    const podName = await startAs('unschedulable');
    await world.cancelAll();
    const disconnect = await scene.connectRunner(podName);
    expect(await scene.stop(podName, 'pending_timeout', { attempts: 4 })).toMatchObject({
      completed_at: null,
      stop_held_by: expect.stringContaining('no line of a runner'),
    });
    expect(await scene.runner(podName)).toMatchObject({ state: 'idle' });
    await disconnect();
  });
});

/** Its entity has removed the App, so that GitHub gives no answer about its runner. */
async function abandonedWorker(): Promise<string> {
  const podName = await scene.startUnregistered();
  await scene.losePod(podName);
  const path = '/access_tokens$|/actions/runners';
  await world.gitHub.failNext({ path, status: 404, times: 10_000 });
  await scene.follow();
  return podName;
}

describe('a worker without a pod (A3)', () => {
  const GONE = { status: 'failed', stop_reason: 'pod_gone', stop_held_by: null };

  test('which is gone, and GitHub does not know the runner: it ends at once, when its pod went', async () => {
    const podName = await scene.startUnregistered();
    await scene.losePod(podName);
    await world.deleteRunner(podName);
    await scene.follow();
    const { pod_gone_at: goneAt } = await scene.row(podName);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({
      ...GONE,
      completed_at: goneAt,
      pod_deleted_at: goneAt,
    });
    expect(secretOf(podName)).toBeUndefined();
  });

  test('which is gone, but GitHub calls the runner online: it may work on a node that is cut off, and ends ten minutes after GitHub has called it offline, not before (P2)', async () => {
    const podName = await scene.startUnregistered();
    await world.cancelAll();
    const disconnect = await scene.connectRunner(podName);
    await scene.losePod(podName);
    await scene.follow();
    expect(await scene.letEnd(podName, { attempts: 4, minutes: 60 })).toMatchObject({
      status: 'running',
      stop_held_by: expect.stringContaining('online'),
    });
    expect(await scene.runner(podName)).toMatchObject({ state: 'idle' });

    await disconnect();
    await scene.isCalled(podName, 'offline');
    await world.runTasks();
    await scene.letTimePass(9);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({ status: 'running' });
    await scene.letTimePass(2);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject(GONE);
  });

  test('which is gone with its namespace and our rights there: GitHub’s word ends it (H3)', async () => {
    const podName = await scene.startUnregistered();
    await scene.losePod(podName);
    await scene.follow();
    const refusal = { status: 403, reason: 'Forbidden', times: 1_000 };
    world.kube.failNext({ path: '/namespaces/', ...refusal });
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({ status: 'running' });
    await world.deleteRunner(podName);
    await world.makeDue();
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject(GONE);
  });

  test('which was never made: deregistered, then ended', async () => {
    world.kube.setQuota(0);
    const podName = await scene.makeWorker();
    expect(await scene.runner(podName)).toBeDefined();
    expect(await scene.stop(podName, 'surplus')).toMatchObject({
      status: 'failed',
      stop_reason: 'surplus',
      pod_uid: null,
    });
    expect([await scene.runner(podName), secretOf(podName)]).toEqual([undefined, undefined]);
  });

  test('and without its App ends after a week, for no runner lives as long, and not before', async () => {
    const podName = await abandonedWorker();
    const days = () => scene.letEnd(podName, { attempts: 3, minutes: 3_000 });
    expect(await days()).toMatchObject({ status: 'running', stop_held_by: expect.any(String) });
    expect(await days()).toMatchObject(GONE);
  });

  test('and without its App ends at once when a person states that its runner is gone', async () => {
    const podName = await abandonedWorker();
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({ status: 'running' });
    const page = await readFile(join(import.meta.dirname, '../../../../docs/stopping.md'), 'utf8');
    const [, stated = ''] = /```sql\n(with stated as .*?)```/s.exec(page) ?? [];
    await sql.raw(stated.replace('pdk-abc123-linux-x64-0123456789ab', podName)).execute(world.db);
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject(GONE);
  });
});
