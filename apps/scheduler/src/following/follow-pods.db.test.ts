import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { describeStop } from '@paddock/domain/workers/stop-reasons';
import { deletePod, listPods } from '@paddock/kube/pods';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { findInstance } from '@paddock/db/instance';
import { findKnownPods } from '@paddock/db/workers/worker-pods';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { takeChanges, takeList } from './follow-pods.ts';
import { FOLLOWING, type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';

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
const tasks = async () =>
  (await world.db.selectFrom('tasks').select(['kind', 'subject_id']).orderBy('kind').execute()).map((task) => task.kind);

type End = 'succeeded' | 'failed' | 'oom';

const ENDED = new Set(['Succeeded', 'Failed']);
const podOf = async (name: string) => (await list()).find((pod) => pod.name === name);

/** A worker whose pod runs, or has ended as told; its row does not know of either yet. */
async function startWorker(end?: End, exitCode?: number): Promise<string> {
  const jobId = await world.queueJob();
  await world.match();
  await world.runTasks();
  const worker = (await world.workers()).find((each) => each.made_for_job_id === jobId);
  if (worker === undefined) throw new Error('no worker was made');
  const name = worker.pod_name;
  await waitFor('the pod to run', async () => (await podOf(name))?.phase === 'Running');
  if (end !== undefined) await endPod(name, end, exitCode);
  return name;
}

async function endPod(name: string, end: End, exitCode?: number): Promise<void> {
  world.kube.endPod({ namespace: 'runners', name, end, exitCode });
  await waitFor('the pod to end', async () => ENDED.has((await podOf(name))?.phase ?? ''));
}

const row = async (podName: string) => (await world.workers()).find((worker) => worker.pod_name === podName);
async function relist(): Promise<void> {
  const known = await findKnownPods(world.db, 'runners');
  await takeList(parts(), 'runners', await list(), known);
}

const change = (type: 'modified' | 'deleted', pod: ObservedPod) => ({ type, pod, resourceVersion: pod.resourceVersion });

describe('a pod’s state goes into its worker’s row', () => {
  test('Running: node, uid and the pod’s own instant (C8)', async () => {
    const name = await startWorker();
    expect(await world.growth('paddock_worker_to_running_seconds_count{pool="linux"}', relist)).toBe(1);
    expect(await row(name)).toMatchObject({ status: 'running', k8s_node: 'sim-node', pod_uid: expect.any(String), completed_at: null });
    expect((await row(name))?.running_at).not.toBeNull();
    expect(await tasks()).toEqual([]);
  });

  test('first seen Succeeded: both instants, the exit code, its Secret goes, and the job it may have run is looked up (A3, E7, C3)', async () => {
    const name = await startWorker('succeeded');
    expect(await world.growth('paddock_workers_unexplained_total{pool="linux"}', relist)).toBe(1);
    const instants = { running_at: expect.any(Date), completed_at: expect.any(Date) };
    expect(await row(name)).toMatchObject({ status: 'completed', exit_code: 0, failure_info: null, ...instants });
    expect(await tasks()).toEqual(['diagnose-pod', 'look-up-jobs', 'remove-secret']);
  });

  test('Failed: the reason at once, the diagnosis by a task (C8, P5)', async () => {
    const name = await startWorker('oom');
    expect(await world.growth('paddock_workers_ended_total{pool="linux",status="failed"', relist)).toBe(1);
    expect(await row(name)).toMatchObject({ status: 'failed', failure_info: { version: 1 } });
    expect(await tasks()).toEqual(['diagnose-pod', 'remove-secret']);
    await world.runTasks();
    expect((await row(name))?.failure_info).toMatchObject({
      version: 2,
      reason: 'out_of_memory',
      pod: { phase: 'Failed' },
      containers: [expect.objectContaining({ name: 'runner', reason: 'OOMKilled', exitCode: 137 })],
    });
    expect((await row(name))?.secret_deleted_at).not.toBeNull();
  });

  test('said twice, it changes nothing more (D6)', async () => {
    const name = await startWorker('failed', 3);
    await relist();
    const before = await row(name);
    await world.db.deleteFrom('tasks').execute();
    await relist();
    expect(await row(name)).toEqual(before);
    expect(await tasks()).toEqual([]);
  });

  test('never takes a row back, whatever comes late (A6)', async () => {
    const name = await startWorker();
    const running = await podOf(name);
    await endPod(name, 'succeeded');
    await relist();
    if (running !== undefined) await takeChanges(parts(), [{ type: 'modified', pod: running, resourceVersion: running.resourceVersion }]);
    expect((await row(name))?.status).toBe('completed');
  });

  test.each([
    ['as it ended', (_running: ObservedPod, ended: ObservedPod) => ended],
    ['as it was before', (running: ObservedPod) => running],
  ])(
    'of changes that come together the newest of each pod counts, and a deletion among them that shows it %s (C8)',
    async (_how, shown) => {
      const name = await startWorker();
      const running = await podOf(name);
      await endPod(name, 'succeeded');
      const ended = await podOf(name);
      if (running === undefined || ended === undefined) throw new Error('the pod is gone');
      await takeChanges(parts(), [change('modified', running), change('modified', ended), change('deleted', shown(running, ended))]);
      expect(await row(name)).toMatchObject({ status: 'completed', exit_code: 0 });
      expect((await row(name))?.pod_deleted_at).not.toBeNull();
      expect(await tasks()).toEqual(['diagnose-pod', 'look-up-jobs', 'remove-secret']);
    },
  );

  test('a pod of the same name with another uid says nothing', async () => {
    const name = await startWorker('succeeded');
    await world.db.updateTable('workers').set({ pod_uid: 'another' }).where('pod_name', '=', name).execute();
    await relist();
    expect((await row(name))?.status).toBe('pending');
  });

  test('a phase that says Failed while a container still runs ends nothing (A3, P2)', async () => {
    const name = await startWorker();
    const pods = (await list()).map((pod) => Object.assign({}, pod, { phase: 'Failed' as const, podReason: 'NodeLost' }));
    await takeList(parts(), 'runners', pods, []);
    expect((await row(name))?.status).toBe('running');
  });
});

describe('an unexplained end', () => {
  test('stands against one waiting job for a grace (C3)', async () => {
    const name = await startWorker('succeeded');
    await relist();
    const worker = await row(name);
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
    const name = await startWorker(end, exitCode);
    await world.db
      .updateTable('workers')
      .set({ ...set, updated_at: new Date() })
      .where('pod_name', '=', name)
      .execute();
    await relist();
    const worker = await row(name);
    expect(worker?.completed_at).not.toBeNull();
    expect(worker?.unexplained_until).toBeNull();
  });
});

/** A worker whose runner has ended well, with the row that it had before that was seen. */
async function endOf(set: object) {
  const name = await startWorker('succeeded');
  await world.db.updateTable('workers').set(set).where('pod_name', '=', name).execute();
  await relist();
  return row(name);
}

describe('a runner that ends well after we have deregistered it', () => {
  const stopped = { stopping_at: new Date(), stop_reason: 'idle', deregistration_started_at: new Date() };
  test('has ended by us: failed, with what the stop was for, not diagnosed, and its pool is not to blame (E5, C11)', async () => {
    const worker = await endOf(stopped);
    expect(worker).toMatchObject({ status: 'failed', stop_reason: 'idle', exit_code: 0, unexplained_until: null });
    expect(worker?.failure_info).toEqual({ version: 1, message: describeStop('idle') });
    expect(await tasks()).toEqual(['remove-secret']);
    expect(await world.db.selectFrom('breakers').selectAll().execute()).toEqual([]);
  });

  test.each([
    ['a job was known on it', { ...stopped, assigned_at: new Date() }],
    ['it was not deregistered yet', { ...stopped, deregistration_started_at: null }],
  ])('has ended by itself if %s', async (_what, set) => {
    expect(await endOf(set)).toMatchObject({ status: 'completed', failure_info: null });
  });
});

describe('a pod that is gone', () => {
  test.each(['deleted before our eyes', 'missing from a list'])(
    'ends no row, but is no supply any more and counts in the caps: %s (A3, C3, P1)',
    async (how) => {
      await world.putPools(examplePools({ pools: [{ maxWorkers: 2 }] }));
      const name = await startWorker();
      await relist();
      const pod = await podOf(name);
      await deletePod(world.cluster, { namespace: 'runners', name });
      await waitFor('the pod to be gone', async () => (await podOf(name)) === undefined);
      if (how === 'missing from a list') await relist();
      else if (pod !== undefined) await takeChanges(parts(), [{ type: 'deleted', pod, resourceVersion: pod.resourceVersion }]);
      expect(await row(name)).toMatchObject({ status: 'running', stop_reason: 'pod_gone', completed_at: null });
      expect((await row(name))?.stopping_at).not.toBeNull();
      expect((await world.match()).reserved).toBe(1);
      await world.queueJob();
      expect((await world.match()).reserved).toBe(0);
    },
  );

  test('a list that was asked for before the pod was made says nothing of it, however old the worker (C8)', async () => {
    await world.queueJob();
    await world.match();
    const [known, pods] = [await findKnownPods(world.db, 'runners'), await list()];
    await world.runTasks();
    await world.db
      .updateTable('workers')
      .set({ created_at: new Date(Date.now() - 3_600_000) })
      .execute();
    await takeList(parts(), 'runners', pods, known);
    expect(await world.workers()).toMatchObject([{ pod_uid: expect.any(String), stopping_at: null }]);
  });

  test('is written down for a worker that has ended (E7)', async () => {
    const name = await startWorker('succeeded');
    await relist();
    const pod = await podOf(name);
    if (pod !== undefined) await takeChanges(parts(), [{ type: 'deleted', pod, resourceVersion: pod.resourceVersion }]);
    expect((await row(name))?.pod_deleted_at).not.toBeNull();
  });

  test('of a worker that has ended is found by a complete list (C8)', async () => {
    const name = await startWorker('succeeded');
    await relist();
    await takeList(parts(), 'runners', [], []);
    expect((await row(name))?.pod_deleted_at).toBeNull();
    await takeList(parts(), 'runners', [], [name]);
    expect((await row(name))?.pod_deleted_at).not.toBeNull();
  });

  test('deleted with its end unseen: the end in its last state counts (C8)', async () => {
    const name = await startWorker('succeeded');
    const pod = await podOf(name);
    if (pod !== undefined) await takeChanges(parts(), [{ type: 'deleted', pod, resourceVersion: pod.resourceVersion }]);
    const worker = await row(name);
    expect(worker).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(worker?.pod_deleted_at).not.toBeNull();
  });
});

describe('followPods', () => {
  test('sees with its first list what went while nobody followed, and be the worker just made (C8)', async () => {
    const name = await startWorker();
    await deletePod(world.cluster, { namespace: 'runners', name });
    await waitFor('the pod to be gone', async () => (await podOf(name)) === undefined);
    const follow = async () => {
      const stop = world.follow();
      await waitFor('the absence to be noted', async () => (await row(name))?.stop_reason === 'pod_gone');
      await stop();
    };
    expect(await world.growth('paddock_pods_vanished_total{pool="linux"}', follow)).toBe(1);
    expect(await row(name)).toMatchObject({ completed_at: null });
  });

  test('goes on through cut watches and forgotten versions, with two followers beside each other (C8)', async () => {
    const stops = [world.follow(), world.follow()];
    const first = await startWorker();
    await waitFor('the first worker to run', async () => (await row(first))?.status === 'running');
    world.kube.cutWatches();
    world.kube.compact();
    const second = await startWorker();
    await waitFor('the second worker to run', async () => (await row(second))?.status === 'running');
    world.kube.endPod({ namespace: 'runners', name: first, end: 'succeeded' });
    await waitFor('the first worker to end', async () => (await row(first))?.status === 'completed');
    expect((await row(second))?.status).toBe('running');
    await Promise.all(stops.map((stop) => stop()));
  });

  test('begins to follow a namespace when a pool comes to use it (C8)', async () => {
    const stop = world.follow();
    await waitFor('the first watch', () => world.kube.report().openWatches === 1);
    const document = structuredClone(world.pools);
    document.pools.push({ ...pool(), name: 'other', labels: ['other'], namespace: 'others' });
    await world.putPools(document);
    expect(await waitFor('the second watch', () => world.kube.report().openWatches === 2)).toBe(true);
    await stop();
  });
});

function pool() {
  const [first] = world.pools.pools;
  if (first === undefined) throw new Error('there is no pool');
  return first;
}
