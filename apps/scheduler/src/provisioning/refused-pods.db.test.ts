import { expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { examplePools } from '@paddock/testing/demand-rows';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

test('a quota’s 403 waits with the cluster’s words and one registration (C11)', async () => {
  await world.queueJob();
  world.kube.setQuota(0);
  await world.settle(4);
  const [task] = await seen.tasks();
  expect(task?.attempt).toBe(0);
  expect(await seen.runners()).toHaveLength(1);
  world.kube.setQuota(null);
  await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  await seen.expectOneWorker();
});

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

test('a template that is refused time and again does not burn registrations (C11, P4)', async () => {
  await world.queueJob();
  world.kube.failNext({
    method: 'POST',
    path: '/pods$',
    status: 422,
    reason: 'Invalid',
    times: 1_000,
  });
  for (let pass = 0; pass < 20; pass += 1) {
    await world.match();
    await world.runTasks();
  }
  expect((await seen.runners()).length).toBeLessThanOrEqual(3);
});

test('a cluster with too many calls is at fault itself, and says how long to wait (429, C11)', async () => {
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
  const breakers = await world.db
    .selectFrom('breakers')
    .select(['subject_type', 'failure_class'])
    .execute();
  expect(breakers).toEqual([{ subject_type: 'cluster', failure_class: 'busy' }]);
  const [task] = await seen.tasks();
  expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(60_000);
  await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  await seen.expectOneWorker();
});

test('a webhook of the cluster that is away for hours costs neither an attempt nor a registration (500, C11, P4)', async () => {
  await world.queueJob();
  world.kube.failNext({
    method: 'POST',
    path: '/pods$',
    status: 500,
    reason: 'InternalError',
    times: 20,
  });
  for (let pass = 0; pass < 3; pass += 1) await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  await seen.expectOneWorker();
});

const breakersOf = () =>
  world.db.selectFrom('breakers').select(['subject_type', 'subject_id', 'failure_class']).execute();
const waitsForMs = async () => ((await seen.tasks())[0]?.due_at.getTime() ?? 0) - Date.now();

test.each([
  ['fails', { status: 500, reason: 'InternalError' }],
  ['does not answer', { status: 504, reason: 'Timeout' }],
])(
  'a webhook of one pool’s namespace that %s holds back that pool alone, as a refusal does (C11)',
  async (_how, fault) => {
    const others = { name: 'other', labels: ['self-hosted', 'other'], namespace: 'others' };
    await world.putPools(examplePools({ pools: [{}, others] }));
    await world.queueJob();
    world.kube.failNext({ ...fault, method: 'POST', path: '/runners/pods$', times: 1_000 });
    await world.match();
    await world.runTasks();
    expect(await waitsForMs()).toBeGreaterThan(20_000);
    for (let tries = 1; tries < BREAKER_RULES.failures; tries += 1) {
      await world.makeDue();
      await world.runTasks();
    }
    expect(await breakersOf()).toEqual([
      { subject_type: 'pool', subject_id: 'linux', failure_class: 'pod_refused' },
    ]);
    await world.queueJob({ row: { k8s_pool: 'other' } });
    await world.match();
    await world.runTasks();
    expect(seen.pods()).toHaveLength(1);
    world.kube.clearFaults();
    await world.settle();
    expect(seen.pods()).toHaveLength(2);
    expect(await breakersOf()).toEqual([]);
  },
);

test('a creation that the API server itself does not answer speaks against the cluster (C11)', async () => {
  await world.queueJob();
  await world.match();
  world.kube.failNext({ method: 'POST', path: '/pods$', status: 504, reason: 'Timeout' });
  world.kube.failNext({ path: '^/version$', status: 503 });
  await world.runTasks();
  expect(await breakersOf()).toEqual([
    { subject_type: 'cluster', subject_id: 'default', failure_class: 'away' },
  ]);
  expect(await waitsForMs()).toBeLessThan(20_000);
});
