import { afterEach, expect, test } from '@jest/globals';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import { callJson } from '@paddock/kube/call';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { HOOKED_POOLS, hookObjects } from '@paddock/testing/hook-objects';
import { waitFor } from '@paddock/testing/wait-for';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);
const hooks = hookObjects((method, path, body) => callJson(world.cluster, { method, path, body }));

afterEach(() => hooks.clear());

/** Runs a pool's workers, each with what its hooks make for a job. Returns their names. */
async function startJobs(count: number): Promise<string[]> {
  const names = (await pods.makeWorkers(count)).map(({ name }) => name);
  await pods.relist();
  for (const name of names) await hooks.make(name);
  return names;
}

test('a hundred runners killed in a job: what their hooks have made goes, and nothing else (A3)', async () => {
  await world.putPools(HOOKED_POOLS);
  const others = [
    ...(await hooks.make('somebodys', {})),
    ...(await hooks.make('anothers', { 'runner-pod': 'pdk-another' })),
  ];
  const names = await startJobs(102);
  const [alive = '', ended = '', ...killed] = names;
  others.push(...(await hooks.list()).filter((name) => name.includes(`${alive}-`)));
  await pods.endPod(ended, 'succeeded');
  for (const name of killed) world.kube.endPod({ namespace: 'runners', name, end: 'failed' });
  await waitFor('the pods to end', async () =>
    (await pods.list()).every(({ name, phase }) => name === alive || phase !== 'Running'),
  );
  // Their ends are no facts of their rows yet.
  await enqueueAlone(
    world.db,
    names.map((name) => removeSecretTask(name)),
  );
  await world.runTasks();
  expect(await hooks.list()).toHaveLength(4 * 102 + 8);

  await pods.relist();
  await world.runTasks();
  await waitFor('the pods of jobs to end', async () => (await hooks.list()).length <= 12);
  expect(await hooks.list()).toEqual(others.toSorted());
});

test('an object that cannot be deleted keeps no other, and goes at the next attempt', async () => {
  await world.putPools(HOOKED_POOLS);
  const [name = ''] = await startJobs(1);
  await pods.endPod(name, 'failed');
  await pods.relist();
  world.kube.failNext({ method: 'DELETE', path: '/pods/', status: 403, times: 1 });
  world.kube.failNext({ method: 'GET', path: '/services$', status: 403, times: 1 });
  await world.runTasks();
  expect(await hooks.list()).toEqual(
    ['pods', 'services'].map((kind) => `${kind}/${name}-workflow`),
  );
  expect(await pods.row(name)).toMatchObject({ secret_deleted_at: null });
  await world.makeDue();
  await world.runTasks();
  await waitFor('the rest to go', async () => (await hooks.list()).length === 0);
  expect(await pods.row(name)).toMatchObject({ secret_deleted_at: expect.any(Date) });
});

test('nothing is listed for a worker whose pool had no hooks when it was made', async () => {
  await world.putPools(HOOKED_POOLS);
  const [hooked = ''] = await startJobs(1);
  await world.putPools();
  const [plain = ''] = await startJobs(1);
  await pods.endPod(hooked, 'failed');
  await pods.endPod(plain, 'failed');
  await pods.relist();
  const lists = async () => (await world.calls())['list services'] ?? 0;
  const before = await lists();
  await world.runTasks();
  expect((await lists()) - before).toBe(1);
  await waitFor('its objects to go', async () => (await hooks.list()).length <= 4);
  expect((await hooks.list()).every((name) => name.includes(plain))).toBe(true);
});
