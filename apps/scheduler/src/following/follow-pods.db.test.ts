import { describe, expect, test } from '@jest/globals';
import { describeStop } from '@paddock/domain/workers/stop-reasons';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { takeChanges, takeList } from './follow-pods.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { change } from '../scenes/followed-pods.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);

const tasks = async () =>
  (await world.db.selectFrom('tasks').select(['kind', 'subject_id']).orderBy('kind').execute()).map(
    (task) => task.kind,
  );

describe('a pod’s state goes into its worker’s row', () => {
  test('Running: node, uid and the pod’s own instant (C8)', async () => {
    const name = await pods.startWorker();
    expect(
      await world.growth('paddock_worker_to_running_seconds_count{pool="linux"}', pods.relist),
    ).toBe(1);
    expect(await pods.row(name)).toMatchObject({
      status: 'running',
      k8s_node: 'sim-node',
      pod_uid: expect.any(String),
      completed_at: null,
    });
    expect((await pods.row(name))?.running_at).not.toBeNull();
    expect(await tasks()).toEqual([]);
  });

  test('first seen Succeeded: both instants, the exit code, its Secret goes, and the job it may have run is looked up (A3, E7, C3)', async () => {
    const name = await pods.startWorker('succeeded');
    expect(await world.growth('paddock_events_total{event="podUnexplained"}', pods.relist)).toBe(1);
    const instants = { running_at: expect.any(Date), completed_at: expect.any(Date) };
    expect(await pods.row(name)).toMatchObject({
      status: 'completed',
      exit_code: 0,
      failure_info: null,
      ...instants,
    });
    expect(await tasks()).toEqual(['diagnose-pod', 'look-up-jobs', 'remove-secret']);
  });

  test('Failed: the reason at once, the diagnosis by a task (C8, P5)', async () => {
    const name = await pods.startWorker('oom');
    expect(
      await world.growth('paddock_workers_ended_total{pool="linux",status="failed"', pods.relist),
    ).toBe(1);
    expect(await pods.row(name)).toMatchObject({ status: 'failed', failure_info: { version: 1 } });
    expect(await tasks()).toEqual(['diagnose-pod', 'remove-secret']);
    await world.runTasks();
    expect((await pods.row(name))?.failure_info).toMatchObject({
      version: 2,
      reason: 'out_of_memory',
      pod: { phase: 'Failed' },
      containers: [expect.objectContaining({ name: 'runner', reason: 'OOMKilled', exitCode: 137 })],
    });
    expect((await pods.row(name))?.secret_deleted_at).not.toBeNull();
  });

  test('never moves a row back, even if older states come late (A6)', async () => {
    const name = await pods.startWorker();
    const running = await pods.podOf(name);
    await pods.endPod(name, 'succeeded');
    await pods.relist();
    if (running !== undefined)
      await takeChanges(pods.parts, [
        { type: 'modified', pod: running, resourceVersion: running.resourceVersion },
      ]);
    expect((await pods.row(name))?.status).toBe('completed');
  });

  test.each([
    ['as it ended', (_running: ObservedPod, ended: ObservedPod) => ended],
    ['as it was before', (running: ObservedPod) => running],
  ])(
    'of changes that come together the newest of each pod counts, and a deletion among them that shows it %s (C8)',
    async (_how, shown) => {
      const name = await pods.startWorker();
      const running = await pods.podOf(name);
      await pods.endPod(name, 'succeeded');
      const ended = await pods.podOf(name);
      if (running === undefined || ended === undefined) throw new Error('the pod is gone');
      await takeChanges(pods.parts, [
        change('modified', running),
        change('modified', ended),
        change('deleted', shown(running, ended)),
      ]);
      expect(await pods.row(name)).toMatchObject({ status: 'completed', exit_code: 0 });
      expect((await pods.row(name))?.pod_deleted_at).not.toBeNull();
      expect(await tasks()).toEqual(['diagnose-pod', 'look-up-jobs', 'remove-secret']);
    },
  );

  test('a pod of the same name with another uid changes nothing', async () => {
    const name = await pods.startWorker('succeeded');
    await world.db
      .updateTable('workers')
      .set({ pod_uid: 'another' })
      .where('pod_name', '=', name)
      .execute();
    await pods.relist();
    expect((await pods.row(name))?.status).toBe('pending');
  });

  test('a phase that says Failed while a container still runs ends nothing (A3, P2)', async () => {
    const name = await pods.startWorker();
    const seen = (await pods.list()).map((pod) =>
      Object.assign({}, pod, { phase: 'Failed' as const, podReason: 'NodeLost' }),
    );
    await takeList(pods.parts, 'runners', seen, []);
    expect((await pods.row(name))?.status).toBe('running');
  });
});

describe('an unexplained end', () => {
  test('counts against one waiting job for a grace (C3)', async () => {
    const name = await pods.startWorker('succeeded');
    await pods.relist();
    const worker = await pods.row(name);
    const graceMs = (worker?.unexplained_until?.getTime() ?? 0) - Date.now();
    expect(graceMs).toBeGreaterThan(30_000);
    expect(graceMs).toBeLessThan(61_000);
    expect(await world.match()).toMatchObject({ reserved: 0 });
  });

  test.each([
    ['a worker that was bound to a job', { assigned_at: new Date() }, 'succeeded', 0],
    ['a worker that was stopping', { stopping_at: new Date() }, 'succeeded', 0],
    ['a runner that ended with a code other than 0', {}, 'failed', 1],
  ] as const)('is none for %s (C3)', async (_name, set, end, exitCode) => {
    const name = await pods.startWorker(end, exitCode);
    await world.db
      .updateTable('workers')
      .set({ ...set, updated_at: new Date() })
      .where('pod_name', '=', name)
      .execute();
    await pods.relist();
    const worker = await pods.row(name);
    expect(worker?.completed_at).not.toBeNull();
    expect(worker?.unexplained_until).toBeNull();
  });
});

/** A worker whose runner has ended well, with the row that it had before that was seen. */
async function endOf(set: object) {
  const name = await pods.startWorker('succeeded');
  await world.db.updateTable('workers').set(set).where('pod_name', '=', name).execute();
  await pods.relist();
  return pods.row(name);
}

describe('a runner that ends well after we have deregistered it', () => {
  const stopped = {
    stopping_at: new Date(),
    stop_reason: 'idle',
    deregistration_started_at: new Date(),
  };
  test('has failed with the reason of the stop, is not diagnosed, and does not count against its key (E5, C11)', async () => {
    const worker = await endOf(stopped);
    expect(worker).toMatchObject({
      status: 'failed',
      stop_reason: 'idle',
      exit_code: 0,
      unexplained_until: null,
    });
    expect(worker?.failure_info).toEqual({ version: 1, message: describeStop('idle') });
    expect(await tasks()).toEqual(['remove-secret']);
    expect(await world.failing()).toEqual([]);
  });

  test.each([
    ['a job was known on it', { ...stopped, assigned_at: new Date() }],
    ['it was not deregistered yet', { ...stopped, deregistration_started_at: null }],
  ])('has ended by itself if %s', async (_what, set) => {
    expect(await endOf(set)).toMatchObject({ status: 'completed', failure_info: null });
  });
});
