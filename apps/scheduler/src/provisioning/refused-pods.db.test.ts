import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { look, type Seen } from './evidence.scene.ts';
import { type SchedulerWorld, startSchedulerWorld } from '../scheduler.scene.ts';

let world: SchedulerWorld;
let seen: Seen;
beforeAll(async () => {
  world = await startSchedulerWorld({ kubelet: false });
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  seen = await look(world);
});

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
  world.kube.failNext({ method: 'POST', path: '/pods$', status: 422, reason: 'Invalid', times: 1_000 });
  for (let pass = 0; pass < 20; pass += 1) {
    await world.match();
    await world.runTasks();
  }
  expect((await seen.runners()).length).toBeLessThanOrEqual(3);
});

test('a cluster that has too many calls is what is at fault, and says how long to wait (429, C11)', async () => {
  await world.queueJob();
  await world.match();
  world.kube.failNext({ method: 'POST', path: '/pods$', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 77 });
  await world.runTasks();
  const breakers = await world.db.selectFrom('breakers').select(['subject_type', 'failure_class']).execute();
  expect(breakers).toEqual([{ subject_type: 'cluster', failure_class: 'busy' }]);
  const [task] = await seen.tasks();
  expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(60_000);
  await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  await seen.expectOneWorker();
});

test('a webhook of the cluster that is away for hours costs neither an attempt nor a registration (500, C11, P4)', async () => {
  await world.queueJob();
  world.kube.failNext({ method: 'POST', path: '/pods$', status: 500, reason: 'InternalError', times: 20 });
  for (let pass = 0; pass < 3; pass += 1) await world.settle();
  expect(await seen.runners()).toHaveLength(1);
  await seen.expectOneWorker();
});
