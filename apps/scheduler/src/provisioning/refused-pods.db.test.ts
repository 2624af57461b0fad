import { expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

const SECRET = { method: 'POST', path: '/secrets$' };
const POD = { method: 'POST', path: '/pods$' };

test.each([
  { ...SECRET, status: 429, retryAfterSeconds: 0, times: 2 },
  { ...SECRET, afterCommit: true, times: 2 },
  { ...POD, status: 422, reason: 'Invalid', times: 3 },
])(
  'an object that is not made for a moment (%j) costs no registration (C6, C11, P4)',
  async (fault) => {
    await world.queueJob();
    world.kube.failNext(fault);
    await world.settle();
    expect(await seen.failures()).toEqual([]);
    expect(await seen.runners()).toHaveLength(1);
    await seen.expectOneWorker();
  },
);

const WAITS = [{ registration_started_at: null }];

test.each([
  ['refuses Secrets', { ...SECRET, status: 403, reason: 'Forbidden' }, WAITS],
  ['cuts connections for Secrets', SECRET, WAITS],
  ['goes away as a Secret is put', { after: 2 }, []],
])(
  'a cluster that %s burns one registration, however long it lasts (C6, C11, P1, P4)',
  async (_how, fault, alive) => {
    await world.reserve();
    world.kube.failNext({ ...fault, times: 10_000 });
    await world.runTasks();
    const words = 'POST /api/v1/namespaces/runners/secrets';
    expect(await world.workers()).toMatchObject([
      {
        status: 'failed',
        stop_reason: 'registration_interrupted',
        failure_info: { message: expect.stringContaining(words) },
      },
    ]);
    await world.settle(20);
    expect(await seen.registrations()).toHaveLength(1);
    expect(await world.alive()).toMatchObject(alive);
    world.kube.clearFaults();
    await world.settle();
    await seen.expectOneWorker();
    expect(await seen.registrations()).toHaveLength(2);
  },
);

test('while pods are refused, a trial asks the cluster first and costs no registration (C11, P4)', async () => {
  world.kube.setQuota(0);
  await world.queueJobs(3);
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

test('a worker that was reserved before its key was paused registers nothing meanwhile (C11, P4)', async () => {
  const { pod_name: podName } = await world.reserve();
  await world.fail(podName, 'image_pull', 3);
  await world.holdPauses();
  await world.runTasks();
  expect([await seen.runners(), seen.pods()]).toEqual([[], []]);
});

const waitsForMs = async () => ((await seen.tasks())[0]?.due_at.getTime() ?? 0) - Date.now();
/** One creation of a pod that ends so. */
const failOnce = async (fault: object) => {
  await world.reserve();
  world.kube.failNext({ ...fault, ...POD });
  await world.runTasks();
};

test.each([
  [{ status: 500, reason: 'InternalError' }, -1],
  [{ status: 429, reason: 'TooManyRequests', retryAfterSeconds: 77 }, 60_000],
])(
  'a creation that ends with %j while the API server answers its probe counts against the key (C11)',
  async (fault, leastMs) => {
    await failOnce(fault);
    expect(await world.failing()).toMatchObject([
      { pool: 'linux', failureClass: 'cluster_error', failures: 1, pauses: 0 },
    ]);
    expect(await world.outages()).toEqual([]);
    expect(await waitsForMs()).toBeGreaterThan(leastMs);
    await world.settle();
    expect(await world.failing()).toEqual([]);
    await seen.expectOneWorker();
  },
);

test.each([
  { status: 503, reason: 'ServiceUnavailable' },
  { status: 429, reason: 'TooManyRequests' },
  { status: 401, reason: 'Unauthorized' },
])(
  'a creation that ends with %j while the API server does not answer its probe is nobody’s failure (C11)',
  async (fault) => {
    world.kube.failNext({ path: '^/version$', status: 503 });
    await failOnce(fault);
    expect(await world.failing()).toEqual([]);
    await waitFor('the outage to be noted', async () => (await world.outages()).length === 1);
    expect(await seen.tasks()).toMatchObject([{ attempt: 0 }]);
    expect(await waitsForMs()).toBeLessThan(2_000);
    await world.settle();
    expect(await world.outages()).toEqual([]);
    await seen.expectOneWorker();
  },
);
