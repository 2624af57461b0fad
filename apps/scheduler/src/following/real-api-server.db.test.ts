import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { canPlayNodes } from '@paddock/testing/played-nodes';
import { waitFor } from '@paddock/testing/wait-for';
import { HASTY_MS, type RealWorld, startRealWorld } from '../scenes/real-cluster.scene.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const described = assets !== '' && canPlayNodes(assets) ? describe : describe.skip;

described('the scheduler on a real API server (needs KUBEBUILDER_ASSETS with kwok)', () => {
  let world: RealWorld;
  const followers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    world = await startRealWorld(assets, { nodes: 1 }, { clusterTimeoutMs: HASTY_MS });
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    await world.reset();
    // Two, of whom one follows: the other takes over.
    followers.push(world.follow(), world.follow());
  });
  afterEach(async () => {
    await Promise.all(followers.splice(0).map((stop) => stop()));
  });

  const workers = async (status: string) =>
    (await world.workers()).filter((worker) => worker.status === status);
  const areAll = async (status: string, count: number) => (await workers(status)).length === count;
  const row = async (podName: string) => {
    const found = (await world.workers()).find((worker) => worker.pod_name === podName);
    if (found === undefined) throw new Error(`the worker ${podName} has no row`);
    return found;
  };

  async function runWorkers(count: number): Promise<string[]> {
    for (let job = 0; job < count; job += 1) await world.queueJob();
    await world.drive('the workers to run', () => areAll('running', count));
    return (await world.workers()).map(({ pod_name }) => pod_name);
  }

  /**
   * Each job has exactly one running row, with a pod and a registration. Other rows ended without a
   * pod: a JIT config was lost on its way to its Secret, and no attempt asks for a second one, or
   * no job wanted the reservation any longer.
   */
  async function expectOneEach(jobs: number): Promise<void> {
    const running = (await workers('running')).map(({ pod_name }) => pod_name).toSorted();
    expect(running).toHaveLength(jobs);
    const ended = (await world.workers()).filter(({ status }) => status !== 'running');
    expect(ended.map(({ pod_uid }) => pod_uid)).toEqual(ended.map(() => null));
    expect((await world.pods()).map(({ name }) => name).toSorted()).toEqual(running);
    const { registrations } = await world.gitHub.truth();
    const registered = registrations
      .map(({ name }) => name)
      .filter((name) => running.includes(name));
    expect(registered.toSorted()).toEqual(running);
  }

  test('killed while workers are made and started again: each job has one worker, and its row goes on (C6, C8, P1, P3)', async () => {
    await runWorkers(2);
    for (let job = 0; job < 4; job += 1) await world.queueJob();
    await world.match();
    const [, running] = await Promise.all([world.real.apiServer.kill(), world.runTasks()]);
    expect(running).toBeGreaterThan(0);
    await world.drive(
      'every attempt to have failed',
      async () => (await workers('running')).length === 2,
    );
    await world.real.apiServer.start();
    await world.drive(
      'all to run',
      async () => (await areAll('running', 6)) && areAll('pending', 0),
    );
    await expectOneEach(6);
  });

  test('killed, compacted and started again: a new list finds the changes meanwhile (410, C8)', async () => {
    const [ended = '', going = ''] = await runWorkers(2);
    await world.annotate(ended, { 'test.paddock/end': 'succeeded' });
    await world.real.apiServer.kill();
    await world.real.compact();
    await world.real.apiServer.start();
    await waitFor('the end to be seen', async () => (await row(ended)).status === 'completed');
    expect(await row(going)).toMatchObject({ status: 'running', stopping_at: null });
  });

  test('that hangs while workers are made and goes on makes none twice (C6, P3)', async () => {
    const jobs = 4;
    for (let job = 0; job < jobs; job += 1) await world.queueJob();
    await world.match();
    const first = world.runTasks();
    world.real.apiServer.freeze();
    try {
      await first;
      await world.makeDue();
      await world.runTasks();
    } finally {
      world.real.apiServer.thaw();
    }
    await world.drive(
      'all to run',
      async () => (await areAll('running', jobs)) && areAll('pending', 0),
    );
    expect(await world.pods()).toHaveLength(jobs);
    await expectOneEach(jobs);
  });

  test('a pod whose node was removed is failed by the cluster with its containers still running: its row waits for proof (A3, P2)', async () => {
    const [name = ''] = await runWorkers(1);
    await world.annotate(name, { 'test.paddock/end': 'node-lost' });
    await waitFor('the cluster to call it failed', async () =>
      (await world.pods()).some(({ phase }) => phase === 'Failed'),
    );
    await world.admin('DELETE', `/api/v1/namespaces/runners/pods/${name}`, {
      gracePeriodSeconds: 0,
    });
    await waitFor('the pod to be missed', async () => (await row(name)).stopping_at !== null);
    expect(await row(name)).toMatchObject({
      status: 'running',
      completed_at: null,
      stop_reason: 'pod_gone',
    });
  });

  test('a pod cut off from the cluster while its runner works on: not ready, deleted, and there for ever; its row lives (A3, P2)', async () => {
    const [name = ''] = await runWorkers(1);
    await world.annotate(name, { 'test.paddock/delete': 'never' });
    const conditions = [{ type: 'Ready', status: 'False', reason: 'NodeNotReady' }];
    await world.admin('PATCH', `/api/v1/namespaces/runners/pods/${name}/status`, {
      status: { conditions },
    });
    await world.admin('DELETE', `/api/v1/namespaces/runners/pods/${name}`);
    await waitFor('the deletion to be seen', async () => (await row(name)).terminating_at !== null);
    expect(await row(name)).toMatchObject({
      status: 'running',
      completed_at: null,
      stopping_at: null,
    });
    // Lets the pod go at last.
    await world.annotate(name, { 'test.paddock/delete': null as unknown as string });
    await waitFor('the pod to be missed', async () => (await row(name)).stopping_at !== null);
    expect(await row(name)).toMatchObject({ status: 'running', completed_at: null });
  });
});
