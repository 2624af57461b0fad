import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { deploy } from '@paddock/testing/cluster-rights';
import { waitFor } from '@paddock/testing/wait-for';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeReal, HASTY_MS } from '../scenes/real-cluster.scene.ts';

const PODS = '/api/v1/namespaces/runners/pods';
const BUDGET = '/apis/policy/v1/namespaces/runners/poddisruptionbudgets/paddock-runners';

describeReal('the scheduler on a real API server', { clusterTimeoutMs: HASTY_MS }, (world) => {
  const followers: (() => Promise<void>)[] = [];
  beforeEach(() => {
    // Two, of whom one follows: the other takes over.
    followers.push(world.follow(), world.follow());
  });
  afterEach(async () => {
    await Promise.all(followers.splice(0).map((stop) => stop()));
  });

  const allRun = (jobs: number) =>
    world.drive(
      'all to run',
      async () =>
        (await world.withStatus('running')).length === jobs &&
        (await world.withStatus('pending')).length === 0,
    );
  async function runWorkers(count: number): Promise<string[]> {
    await world.queueJobs(count);
    await allRun(count);
    return (await world.workers()).map(({ pod_name }) => pod_name);
  }
  const untilMissed = (name: string) =>
    waitFor(
      'the pod to be missed',
      async () => ((await world.row(name))?.stopping_at ?? null) !== null,
    );

  /**
   * Each job has exactly one running row, with a pod and a registration. Other rows ended without a
   * pod: a JIT config was lost on its way to its Secret, and no attempt asks for a second one, or
   * no job wanted the reservation any longer.
   */
  async function expectOneEach(jobs: number): Promise<void> {
    const running = (await world.withStatus('running')).map(({ pod_name }) => pod_name).toSorted();
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
    await world.queueJobs(4);
    await world.match();
    const [, running] = await Promise.all([world.real.apiServer.kill(), world.runTasks()]);
    expect(running).toBeGreaterThan(0);
    await world.drive(
      'every attempt to have failed',
      async () => (await world.withStatus('running')).length === 2,
    );
    await world.real.apiServer.start();
    await allRun(6);
    await expectOneEach(6);
  });

  test('killed, compacted and started again: a new list finds the changes meanwhile (410, C8)', async () => {
    const [ended = '', going = ''] = await runWorkers(2);
    await world.annotate(ended, { 'test.paddock/end': 'succeeded' });
    await world.real.apiServer.kill();
    await world.real.compact();
    await world.real.apiServer.start();
    await waitFor(
      'the end to be seen',
      async () => (await world.row(ended))?.status === 'completed',
    );
    expect(await world.row(going)).toMatchObject({ status: 'running', stopping_at: null });
  });

  test('that hangs while workers are made and goes on makes none twice (C6, P3)', async () => {
    await world.queueJobs(4);
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
    await allRun(4);
    expect(await world.pods()).toHaveLength(4);
    await expectOneEach(4);
  });

  test('a pod whose node was removed is failed by the cluster with its containers still running: its row waits for proof (A3, P2)', async () => {
    const [name = ''] = await runWorkers(1);
    await world.annotate(name, { 'test.paddock/end': 'node-lost' });
    await waitFor('the cluster to call it failed', async () =>
      (await world.pods()).some(({ phase }) => phase === 'Failed'),
    );
    await world.admin('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 });
    await untilMissed(name);
    expect(await world.row(name)).toMatchObject({
      status: 'running',
      completed_at: null,
      stop_reason: 'pod_gone',
    });
  });

  test('a pod cut off from the cluster while its runner works on: not ready, deleted, and there for ever; its row lives (A3, P2)', async () => {
    const [name = ''] = await runWorkers(1);
    await world.annotate(name, { 'test.paddock/delete': 'never' });
    const conditions = [{ type: 'Ready', status: 'False', reason: 'NodeNotReady' }];
    await world.admin('PATCH', `${PODS}/${name}/status`, { status: { conditions } });
    await world.admin('DELETE', `${PODS}/${name}`);
    const isTerminating = async () => ((await world.row(name))?.terminating_at ?? null) !== null;
    await waitFor('the deletion to be seen', isTerminating);
    const living = { status: 'running', completed_at: null };
    expect(await world.row(name)).toMatchObject({ ...living, stopping_at: null });
    // Lets the pod go at last.
    await world.annotate(name, { 'test.paddock/delete': null });
    await untilMissed(name);
    expect(await world.row(name)).toMatchObject(living);
  });

  test('the drain of docs/drain.md waits while a runner runs, by the disruption budget in deploy/kubernetes, and takes what has ended, and all without the budget (H3, H6, P2)', async () => {
    const [busy = '', ended = ''] = await runWorkers(2);
    const page = join(import.meta.dirname, '../../../../docs/drain.md');
    const [, command = ''] = /kubectl (drain NODE .*)/.exec(readFileSync(page, 'utf8')) ?? [];
    const kubectl = join(process.env['KUBEBUILDER_ASSETS'] ?? '', 'kubectl');
    const node = (await world.pods())[0]?.nodeName ?? '';
    /** Whether the node is empty then. */
    const drain = async (): Promise<boolean> => {
      const args = [...command.replace('NODE', node).split(' '), '--timeout=2s'];
      const of = ['--kubeconfig', world.real.kubeconfigFile];
      const [code] = (await once(spawn(kubectl, [...args, ...of]), 'exit')) as [number];
      return code === 0;
    };
    await deploy(world.admin, 'pod-disruption-budget.yaml', 'runners');
    await waitFor('the controller to have counted', async () => {
      const { status } = (await world.admin('GET', BUDGET)) as {
        status?: { currentHealthy?: number; disruptionsAllowed?: number };
      };
      return status?.currentHealthy === 2 && status.disruptionsAllowed === 0;
    });
    expect([await drain(), (await world.pods()).length]).toEqual([false, 2]);
    expect(await world.row(busy)).toMatchObject({ status: 'running', stopping_at: null });

    await world.annotate(ended, { 'test.paddock/end': 'succeeded' });
    await waitFor('the row to end', async () => (await world.row(ended))?.status === 'completed');
    expect(await drain()).toBe(false);
    expect((await world.pods()).map(({ name }) => name)).toEqual([busy]);

    await world.admin('DELETE', BUDGET);
    expect(await drain()).toBe(true);
    await world.admin('PATCH', `/api/v1/nodes/${node}`, { spec: { unschedulable: false } });
    await untilMissed(busy);
    expect(await world.row(busy)).toMatchObject({ status: 'running', stop_reason: 'pod_gone' });
  });
});
