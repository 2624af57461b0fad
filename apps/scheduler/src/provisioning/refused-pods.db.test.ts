import { expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { POD_REFUSED } from '@paddock/domain/matching/failure-classes';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

test('a manifest that the cluster refuses waits for a better one, with its registration (C11, P4)', async () => {
  await world.queueJob();
  world.kube.failNext({ method: 'POST', path: '/pods$', status: 422, reason: 'Invalid', times: 3 });
  await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  await seen.expectOneWorker();
});

test('while pods are refused, a trial asks the cluster first and costs no registration (C11, P4)', async () => {
  world.kube.setQuota(0);
  for (let job = 0; job < 3; job += 1) await world.queueJob();
  await world.settle(3);
  const registered = (await seen.runners()).length;
  await world.queueJob();
  await world.settle(6);
  expect(await seen.runners()).toHaveLength(registered);
  world.kube.setQuota(null);
  await world.settle();
  expect(await seen.runners()).toHaveLength(4);
  expect(seen.pods()).toHaveLength(4);
});

test('the worker that tries for a key whose pods were refused asks the cluster before GitHub (C11, P4)', async () => {
  await world.queueJob();
  await world.match();
  const podName = (await world.workers())[0]?.pod_name ?? '';
  const failure = { podName, failureClass: POD_REFUSED, message: 'no quota' };
  for (let n = 0; n < 3; n += 1) await noteKeyFailure(world.db, failure, world.parts.failureRules);
  world.kube.setQuota(0);
  await world.settle(3);
  expect(await seen.runners()).toEqual([]);
  world.kube.setQuota(null);
  await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  expect(seen.pods()).toHaveLength(1);
});

test('an API server that has too many calls says how long to wait, and the key counts it (429, C11)', async () => {
  await world.queueJob();
  await world.match();
  world.kube.failNext({
    method: 'POST',
    path: '/pods$',
    status: 429,
    reason: 'TooManyRequests',
    retryAfterSeconds: 77,
  });
  await world.runTasks();
  expect(await failing()).toEqual([{ pool: 'linux', failureClass: 'cluster_error', pauses: 0 }]);
  expect(await outages()).toEqual([]);
  const [task] = await seen.tasks();
  expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(60_000);
  await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  await seen.expectOneWorker();
});

const failing = () =>
  world.db
    .selectFrom('demand_keys')
    .select(['k8s_pool as pool', 'failure_class as failureClass', 'pauses'])
    .where('failures', '>', 0)
    .execute();
const outages = () => world.db.selectFrom('outages').selectAll().execute();
const waitsForMs = async () => ((await seen.tasks())[0]?.due_at.getTime() ?? 0) - Date.now();

test.each([
  ['fails', { status: 500, reason: 'InternalError' }],
  ['does not answer', { status: 504, reason: 'Timeout' }],
])(
  'a webhook of one pool’s namespace that %s holds back the keys of that pool alone (C11)',
  async (_how, fault) => {
    const others = { name: 'other', labels: ['self-hosted', 'other'], namespace: 'others' };
    await world.putPools(examplePools({ pools: [{}, others] }));
    await world.queueJob();
    world.kube.failNext({ ...fault, method: 'POST', path: '/runners/pods$', times: 1_000 });
    await world.match();
    await world.runTasks();
    for (let tries = 1; tries < 3; tries += 1) {
      await world.makeDue();
      await world.runTasks();
    }
    expect(await failing()).toEqual([{ pool: 'linux', failureClass: 'cluster_error', pauses: 1 }]);
    await world.queueJob({ row: { k8s_pool: 'other' } });
    await world.match();
    await world.runTasks();
    expect(seen.pods()).toHaveLength(1);
    world.kube.clearFaults();
    await world.settle();
    expect(seen.pods()).toHaveLength(2);
    expect(await failing()).toEqual([]);
  },
);

test.each([
  { status: 504, reason: 'Timeout' },
  { status: 503, reason: 'ServiceUnavailable' },
  { status: 429, reason: 'TooManyRequests' },
  { status: 401, reason: 'Unauthorized' },
])(
  'a creation that ends with %j while the API server does not answer its probe is nobody’s failure (C11)',
  async (fault) => {
    await world.queueJob();
    await world.match();
    world.kube.failNext({ ...fault, method: 'POST', path: '/pods$' });
    world.kube.failNext({ path: '^/version$', status: 503 });
    await world.runTasks();
    expect(await failing()).toEqual([]);
    await waitFor('the outage to be noted', async () => (await outages()).length === 1);
    expect((await seen.tasks()).map(({ attempt }) => attempt)).toEqual([0]);
    expect(await waitsForMs()).toBeLessThan(2_000);
    await world.settle();
    expect(await outages()).toEqual([]);
    await seen.expectOneWorker();
  },
);
