import { beforeEach, expect, test } from '@jest/globals';
import { endRefusals, endRefusalsOfApp } from '@paddock/db/entities/refusals';
import { waitFor } from '@paddock/testing/wait-for';
import { APP_ID } from '../scenes/settings.scene.ts';
import {
  useEvidence,
  useFollowedPods,
  useSchedulerWorld,
} from '../scenes/use-scheduler-world.scene.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
const world = useSchedulerWorld({ kubelet: false });
beforeEach(() => world.db.deleteFrom('installations').execute());
const seen = useEvidence(world);
const followed = useFollowedPods(world);

const JIT = '/generate-jitconfig$';
const events = () => world.db.selectFrom('installation_events').selectAll().execute();
const runDue = async () => {
  await world.match();
  await world.makeDue();
  await world.runTasks();
};

test.each([
  [404, 'auth_attempt.404', 'auth_404'],
  [403, 'auth_attempt.other_error', 'auth_other_error'],
])(
  'a refusal with %i is recorded with all that explains it, backed off, and has the Apps checked (A12, C9, P5)',
  async (status, event, outcome) => {
    const { made_for_job_id: jobId } = await world.reserve();
    await world.gitHub.failNext({ path: JIT, status });
    await world.runTasks();
    expect(await events()).toMatchObject([
      {
        source: 'scheduler',
        event,
        outcome,
        job_id: jobId,
        installation_id: world.installationId,
        payload: {
          operation: 'POST /orgs/acme/actions/runners/generate-jitconfig',
          http_status: status,
          message: expect.any(String),
          app_id: APP_ID,
          installation_id: world.installationId,
          entity: { id: world.entityId, name: 'acme', type: 'Organization' },
          job_id: jobId,
        },
      },
    ]);
    const [task] = await seen.tasks();
    expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(50_000);
    const checks = world.db.selectFrom('tasks').select('status').where('kind', '=', 'check-apps');
    expect(await checks.execute()).toEqual([{ status: 'queued' }]);
    await world.settle();
    await seen.expectOneWorker();
  },
);

test('an installation that is gone is asked for once each time, by one worker (C9, C11, P4)', async () => {
  const kim = await world.addUser('kim', 'tool');
  await world.queueJobs(5, {}, kim);
  await world.gitHub.uninstall(kim.installationId);
  const refusals: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await runDue();
    await world.match();
    expect(await world.alive()).toEqual([]);
    refusals.push((await events()).length);
    await world.endRefusedTimes();
    await world.endPauses();
  }
  // At first those that were begun side by side.
  expect(refusals[0]).toBeLessThanOrEqual(5);
  expect(refusals.map((count) => count - (refusals[0] ?? 0))).toEqual([0, 1, 2]);
});

/**
 * GitHub answers all about the user, as when discovery asks, and lets the App register no runner,
 * six times.
 */
async function refuseRegistrations(login: string): Promise<void> {
  const user = await world.addUser(login, 'tool');
  await world.queueJob({}, user);
  const body = { message: 'Resource not accessible by integration' };
  await world.gitHub.failNext({ path: JIT, status: 403, body, times: 1_000 });
  for (let n = 0; n < 6; n += 1) {
    await runDue();
    const repoId = (await world.workers())[0]?.scope_repo_id ?? 0;
    await endRefusals(world.db, { appId: APP_ID, entityId: user.id, repoId });
    await world.makeDue();
  }
}

test('registrations that GitHub refuses while it answers all else are tried ever more rarely (C11, P4)', async () => {
  await refuseRegistrations('lena');
  await world.match();
  expect(await world.failing()).toMatchObject([
    {
      failureClass: 'github_refused',
      message: expect.stringContaining('GitHub answered 403 to POST /repos/lena/tool'),
      failures: 3,
      pauses: 1,
    },
  ]);
  expect(await world.reasons()).toEqual(['installation_refused']);
});

test.each([
  [
    'of the installation',
    'olaf',
    () => world.db.updateTable('installations').set({ updated_at: new Date() }).execute(),
  ],
  ['that another key is configured', 'ida', () => endRefusalsOfApp(world.db, APP_ID)],
])(
  'news %s end what registrations were refused before, at once (C9)',
  async (_what, login, bringNews) => {
    await refuseRegistrations(login);
    expect(await world.failing()).toMatchObject([{ pauses: 1 }]);
    await world.gitHub.clearFaults();
    await bringNews();
    expect(await world.failing()).toEqual([]);
    await world.match();
    await world.settle();
    await seen.expectOneWorker();
  },
);

const SECRET = { method: 'POST', path: '/secrets$' };
const POD = { method: 'POST', path: '/pods$' };

test.each([
  { ...SECRET, status: 429, retryAfterSeconds: 600, times: 2 },
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

test('a pod that a webhook changes is deleted again: the key says what, and a trial asks first (C11, H3, P4)', async () => {
  const change = { metadata: { labels: { 'paddock.dev/instance': 'other' } } };
  world.kube.failNext({ ...POD, change, times: 10_000 });
  const deleted = async () => (await world.calls())['delete pods'] ?? 0;
  const before = await deleted();
  await world.queueJobs(3);
  await world.settle(3);
  expect(await world.failing()).toMatchObject([
    { failureClass: 'pod_refused', message: expect.stringContaining("Paddock's labels") },
  ]);
  const made = seen.pods().length;
  expect([made > 0, await deleted()]).toEqual([true, before + made]);
  const registered = (await seen.runners()).length;
  await world.queueJob();
  await world.settle(6);
  expect([(await seen.runners()).length, seen.pods().length]).toEqual([registered, made]);
  world.kube.clearFaults();
  await world.settle();
  expect((await world.alive()).map((worker) => typeof worker.pod_uid)).toEqual(
    Array.from({ length: 4 }, () => 'string'),
  );
});

test.each([
  ['the next attempt deletes it and makes another', { spec: {} }, false, 2, 2],
  ['also one that is followed by then; its worker is not given another', { spec: {} }, true, 2, 1],
  // It has ended, so that the next test can begin without it.
  [
    'not one that a node has, of which a warning tells',
    { spec: { nodeName: 'a' }, status: { phase: 'Failed' } },
    false,
    1,
    1,
  ],
])(
  'a scheduler dies before it deletes a pod that a webhook has changed: %s (C6, C11, P2)',
  async (_which, where, isFollowed, deletions, creations) => {
    const deleted = async () => (await world.calls())['delete pods'] ?? 0;
    const before = await deleted();
    const change = { ...where, spec: { ...where.spec, serviceAccountName: 'other' } };
    world.kube.failNext({ ...POD, change });
    world.kube.failNext({ method: 'DELETE', path: '/pods/', status: 500 });
    const { pod_name: podName } = await world.reserve();
    await world.runTasks();
    if (isFollowed) await followed.relist();
    await world.makeDue();
    const told = await world.growth('paddock_events_total{event="podWarned"}', world.runTasks);
    expect(told).toBe('nodeName' in where.spec ? 1 : 0);
    expect([(await deleted()) - before, seen.pods().length]).toEqual([deletions, creations]);
    expect(await seen.runners()).toEqual([podName]);
    const uid = (await followed.find(podName))?.uid;
    expect(uid).toBe(isFollowed ? undefined : (await followed.row(podName)).pod_uid);
  },
);

test('a pod that a webhook has changed is kept once it has begun: its runner may have a job (P2)', async () => {
  const deleted = async () => (await world.calls())['delete pods'] ?? 0;
  const before = await deleted();
  const change = { spec: { serviceAccountName: 'other' }, status: { phase: 'Running' } };
  world.kube.failNext({ ...POD, change });
  const { pod_name: podName } = await world.reserve();
  await world.runTasks();
  expect((await deleted()) - before).toBe(0);
  expect((await followed.find(podName))?.uid).toBe((await followed.row(podName)).pod_uid);
  await followed.losePod(podName);
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
  // An API server that has just started refuses everybody.
  { status: 403, reason: 'Forbidden' },
])(
  'no key fails for a creation that ends with %j while the API server answers no probe (C11)',
  async (fault) => {
    world.kube.failNext({ path: '^/readyz$', status: 503 });
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
