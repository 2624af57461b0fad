import { describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeChanges } from './follow-pods.ts';

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
});
