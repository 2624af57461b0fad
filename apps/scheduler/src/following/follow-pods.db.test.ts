import { describe, expect, test } from '@jest/globals';
import { describeStop } from '@paddock/domain/workers/stop-reasons';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { waitFor } from '@paddock/testing/wait-for';
import { change } from '../scenes/followed-pods.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { takeChanges } from './follow-pods.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);

describe('a pod’s state goes into its worker’s row', () => {
  test('Running: node, uid and the pod’s own instant (C8)', async () => {
    const name = await pods.startWorker();
    const count = 'paddock_worker_to_running_seconds_count{pool="linux"}';
    expect(await world.growth(count, pods.relist)).toBe(1);
    expect(await pods.row(name)).toMatchObject({
      status: 'running',
      k8s_node: 'sim-node',
      pod_uid: expect.any(String),
      running_at: expect.any(Date),
      completed_at: null,
    });
    expect(await pods.tasks()).toEqual([]);
  });

  test('first seen Succeeded: both instants, the exit code, its Secret goes, and the job it may have run is looked up (A3, E7, C3)', async () => {
    const name = await pods.startWorker('succeeded');
    expect(await world.growth('paddock_events_total{event="podUnexplained"}', pods.relist)).toBe(1);
    expect(await pods.row(name)).toMatchObject({
      status: 'completed',
      exit_code: 0,
      failure_info: null,
      running_at: expect.any(Date),
      completed_at: expect.any(Date),
    });
    expect(await pods.tasks()).toEqual(['diagnose-pod', 'look-up-jobs', 'remove-secret']);
    const graceMs = Number((await pods.row(name)).unexplained_until) - Date.now();
    expect(graceMs).toBeGreaterThan(30_000);
    expect(graceMs).toBeLessThan(61_000);
    expect(await world.match()).toMatchObject({ reserved: 0 });
  });

  test('Failed: the reason at once, the diagnosis by a task, and no unexplained end (C3, C8, P5)', async () => {
    const name = await pods.startWorker('oom');
    const ended = 'paddock_workers_ended_total{pool="linux",status="failed"';
    expect(await world.growth(ended, pods.relist)).toBe(1);
    expect(await pods.row(name)).toMatchObject({
      status: 'failed',
      failure_info: { version: 1 },
      unexplained_until: null,
    });
    expect(await pods.tasks()).toEqual(['diagnose-pod', 'remove-secret']);
    await world.runTasks();
    const runner = { name: 'runner', reason: 'OOMKilled', exitCode: 137 };
    expect(await pods.row(name)).toMatchObject({
      failure_info: {
        version: 2,
        reason: 'out_of_memory',
        pod: { phase: 'Failed' },
        containers: [expect.objectContaining(runner)],
      },
      secret_deleted_at: expect.any(Date),
    });
  });

  test('never moves a row back, even if older states come late (A6)', async () => {
    const running = await pods.makePod();
    await pods.endPod(running.name, 'succeeded');
    await pods.relist();
    await pods.see(running);
    expect(await pods.row(running.name)).toMatchObject({ status: 'completed' });
  });

  test.each([
    ['as it ended', (_running: ObservedPod, ended: ObservedPod) => ended],
    ['as it was before', (running: ObservedPod) => running],
  ])(
    'of changes that come together the newest of each pod counts, and a deletion among them that shows it %s (C8)',
    async (_how, shown) => {
      const running = await pods.makePod();
      await pods.endPod(running.name, 'succeeded');
      const ended = (await pods.find(running.name)) ?? running;
      await takeChanges(pods.parts, [
        change('modified', running),
        change('modified', ended),
        change('deleted', shown(running, ended)),
      ]);
      expect(await pods.row(running.name)).toMatchObject({
        status: 'completed',
        exit_code: 0,
        pod_deleted_at: expect.any(Date),
      });
      expect(await pods.tasks()).toEqual(['diagnose-pod', 'look-up-jobs', 'remove-secret']);
    },
  );

  test('a pod of the same name with another uid changes nothing', async () => {
    const name = await pods.startWorker('succeeded');
    await pods.set(name, { pod_uid: 'another' });
    await pods.relist();
    expect(await pods.row(name)).toMatchObject({ status: 'pending' });
  });

  test('a NUL in a termination message stops no watch: its own pod and those after it end (C8, P6)', async () => {
    const [bad = '', good = ''] = (await pods.makeWorkers(2)).map(({ name }) => name);
    const stop = world.follow();
    const namespace = 'runners';
    const isEnded = async (name: string) => (await pods.row(name)).completed_at !== null;
    world.kube.endPod({ namespace, name: bad, end: 'failed', message: 'core dumped \0 here' });
    await waitFor('the bad one to end', () => isEnded(bad));
    world.kube.endPod({ namespace, name: good, end: 'succeeded' });
    await waitFor('the good one to end', () => isEnded(good));
    await stop();
    const message = expect.stringContaining('core dumped \uFFFD here');
    expect(await pods.row(bad)).toMatchObject({ failure_info: { message } });
  });

  test('one that its row cannot hold is passed over alone (P6)', async () => {
    const [odd, ...others] = await pods.makeWorkers(3);
    if (odd === undefined) return;
    const exitCode = 2 ** 40;
    const strange = { ...odd, runner: { ...odd.runner, exitCode } };
    await takeChanges(
      pods.parts,
      [strange, ...others].map((pod) => change('modified', pod)),
    );
    expect(await pods.statuses()).toEqual(
      new Map([[odd.name, 'pending'], ...others.map(({ name }) => [name, 'running'] as const)]),
    );
  });
});

const asked = { stopping_at: new Date(), stop_reason: 'idle' };
const stopped = { ...asked, deregistration_started_at: new Date() };
const hadJob = { assigned_at: new Date() };
const STOPPED = ['failed', 'idle', { version: 1, message: describeStop('idle') }];

describe('the end of a runner', () => {
  test.each([
    ['well, after it had a job', 'succeeded', hadJob, ['completed', null, null]],
    ['well, while it was stopping', 'succeeded', stopped, STOPPED],
    ['well, before its deregistration', 'succeeded', asked, ['completed', 'idle', null]],
    ['well, with a job', 'succeeded', { ...stopped, ...hadJob }, ['completed', 'idle', null]],
    ['drained, after it had a job', 'drained', hadJob, ['completed', null, null]],
    ['drained, while it was stopping', 'drained', stopped, STOPPED],
  ] as const)(
    '%s, is explained, and no failure (C3, C11, E5)',
    async (_how, end, row, expected) => {
      const name = await pods.startWorker(end);
      await pods.set(name, row);
      await pods.relist();
      const [status, stop_reason, failure_info] = expected;
      expect(await pods.row(name)).toMatchObject({
        status,
        stop_reason,
        failure_info,
        unexplained_until: null,
      });
      expect(await pods.tasks()).toEqual(['remove-secret']);
      expect(await world.failing()).toEqual([]);
    },
  );

  test('drained with its node, and no job of its is known: evicted, and another is made once GitHub has said that it had none', async () => {
    const name = await pods.startWorker('drained');
    await pods.relist();
    const message = expect.stringContaining('EvictionByEvictionAPI');
    expect(await pods.row(name)).toMatchObject({
      status: 'failed',
      stop_reason: 'evicted',
      failure_info: { version: 1, message },
    });
    expect(await world.failing()).toEqual([]);
    // It may have done its job, and the delivery about that may be lost.
    expect(await pods.tasks()).toContain('look-up-jobs');
    expect(await world.match()).toMatchObject({ reserved: 0 });
    await pods.set(name, { unexplained_until: null });
    expect(await world.match()).toMatchObject({ reserved: 1 });
    await world.runTasks();
    expect(await pods.row(name)).toMatchObject({
      failure_info: { version: 2, reason: 'evicted', message },
    });
  });

  test.each([
    ['ends well: it may have had a job', { phase: 'Succeeded', exitCode: 0 }, expect.any(Date)],
    ['is killed in the end', { phase: 'Failed', exitCode: 143 }, null],
  ] as const)(
    'whose pod a person deletes, and that %s (C3, C11)',
    async (_how, { phase, exitCode }, unexplained) => {
      const pod = await pods.makePod();
      const runner = { name: 'runner', state: 'terminated', exitCode } as const;
      const deletionTimestamp = new Date();
      const containers = { containersTerminated: true, runner, containers: [runner] };
      await pods.see(pod, { phase, ...containers, deletionTimestamp });
      expect(await pods.row(pod.name)).toMatchObject({
        status: 'failed',
        stop_reason: 'pod_deleted',
        unexplained_until: unexplained,
      });
      expect(await world.failing()).toEqual([]);
    },
  );
});
