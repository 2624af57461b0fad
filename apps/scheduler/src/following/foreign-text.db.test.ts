import { describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeChanges, takeList } from './follow-pods.ts';

const world = useSchedulerWorld({ playRunners: false });

const list = async () =>
  (await listPods(world.cluster, { namespace: 'runners', instance: await findInstance(world.db) }))
    .pods;
const statuses = async () =>
  new Map((await world.workers()).map(({ pod_name, status }) => [pod_name, status]));
const row = async (name: string) =>
  (await world.workers()).find(({ pod_name }) => pod_name === name);

async function startWorkers(count: number): Promise<string[]> {
  for (let made = 0; made < count; made += 1) await world.queueJob();
  await world.match();
  await world.runTasks();
  await waitFor(
    'the pods to run',
    async () => (await list()).filter(({ phase }) => phase === 'Running').length === count,
  );
  return (await world.workers()).map(({ pod_name }) => pod_name);
}

const endPod = (name: string, end: 'succeeded' | 'failed', message?: string) =>
  world.kube.endPod({ namespace: 'runners', name, end, message });

describe('a NUL in a termination message (P6)', () => {
  test('stops no watch: its own pod and those after it end (C8)', async () => {
    const [bad = '', good = ''] = await startWorkers(2);
    const stop = world.follow();
    try {
      await waitFor('the rows to run', async () =>
        [...(await statuses()).values()].every((status) => status === 'running'),
      );
      endPod(bad, 'failed', 'core dumped \0 here');
      await waitFor('the bad one to end', async () => (await row(bad))?.status === 'failed');
      endPod(good, 'succeeded');
      await waitFor('the good one to end', async () => (await row(good))?.status === 'completed');
    } finally {
      await stop();
    }
    expect((await row(bad))?.failure_info).toMatchObject({
      message: expect.stringContaining('core dumped \uFFFD here'),
    });
  });

  test('is in the first list, and then in the diagnosis (C8, P5)', async () => {
    const [bad = ''] = await startWorkers(1);
    endPod(bad, 'failed', 'a\0b\uD800c');
    await waitFor('the pod to end', async () => (await list())[0]?.containersTerminated === true);
    await takeList({ ...world.parts, ...FOLLOWING }, 'runners', await list(), []);
    await world.runTasks();
    expect((await row(bad))?.failure_info).toMatchObject({
      version: 2,
      containers: [{ name: 'runner', message: 'a\uFFFDb\uFFFDc' }],
    });
  });
});

test('a NUL that is in a state already is no reason to pass the pod over (P6)', async () => {
  const [name = ''] = await startWorkers(1);
  endPod(name, 'failed');
  await waitFor('the pod to end', async () => (await list())[0]?.containersTerminated === true);
  const pods = (await list()).map((pod): ObservedPod =>
    Object.assign(pod, { podReason: 'a\0b', nodeName: 'node\0' }),
  );
  await takeList({ ...world.parts, ...FOLLOWING }, 'runners', pods, []);
  expect(await row(name)).toMatchObject({
    status: 'failed',
    k8s_node: 'node\uFFFD',
    failure_info: { message: 'a\uFFFDb' },
  });
});

/** More than any of our columns holds: an example of any unexpected text from a cluster. */
const withOddExit = (pod: ObservedPod): ObservedPod => ({
  ...pod,
  runner: { ...pod.runner, exitCode: 2 ** 40 },
});

async function oneOddOfThree() {
  const names = await startWorkers(3);
  const [odd = ''] = names;
  return {
    odd,
    others: names.slice(1),
    pods: (await list()).map((pod) => (pod.name === odd ? withOddExit(pod) : pod)),
  };
}

describe('a pod whose state its row cannot hold is passed over alone (P6)', () => {
  test('in a list', async () => {
    const { odd, others, pods } = await oneOddOfThree();
    await takeList({ ...world.parts, ...FOLLOWING }, 'runners', pods, []);
    expect(await statuses()).toEqual(
      new Map([[odd, 'pending'], ...others.map((name) => [name, 'running'] as const)]),
    );
  });

  test('among changes', async () => {
    const { odd, others, pods } = await oneOddOfThree();
    const changes = pods.map((pod) => ({
      type: 'modified' as const,
      pod,
      resourceVersion: pod.resourceVersion,
    }));
    await takeChanges({ ...world.parts, ...FOLLOWING }, changes);
    expect(await statuses()).toEqual(
      new Map([[odd, 'pending'], ...others.map((name) => [name, 'running'] as const)]),
    );
  });

  test('among those that are adopted (E6)', async () => {
    const { others, pods } = await oneOddOfThree();
    await emptyTables(world.db, ['tasks', 'workers']);
    await takeList({ ...world.parts, ...FOLLOWING }, 'runners', pods, []);
    expect(await statuses()).toEqual(new Map(others.map((name) => [name, 'running'])));
  });
});
