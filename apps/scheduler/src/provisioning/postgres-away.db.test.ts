import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/entities/waits';
import { connectDatabase } from '@paddock/db/connection/connect';
import { connectGitHub } from '@paddock/github/connect';
import { connectCluster } from '@paddock/kube/connect';
import type { Task } from '@paddock/queue/kind';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { TEST_SCHEMA } from '@paddock/testing/database';
import { waitFor } from '@paddock/testing/wait-for';
import { schedulerKinds } from '../kinds.ts';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { APP_ID } from '../scenes/settings.scene.ts';
import { look, type Seen } from '../scenes/evidence.scene.ts';
import { startHoldingProxy } from '../scenes/holding-proxy.scene.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
let world: SchedulerWorld;
let tunnel: Tunnel;
let proxies: Record<'github' | 'cluster', Awaited<ReturnType<typeof startHoldingProxy>>>;
let seen: Seen;
beforeAll(async () => {
  world = await startSchedulerWorld({ kubelet: false });
  tunnel = await startTunnel(world.databaseUrl);
  proxies = {
    github: await startHoldingProxy(world.gitHub.url),
    cluster: await startHoldingProxy(world.kube.url),
  };
});
afterAll(async () => {
  await tunnel.cut();
  await proxies.github.stop();
  await proxies.cluster.stop();
  await world.stop();
});
beforeEach(async () => {
  await world.reset();
  seen = await look(world);
});

const requestTimeoutMs = 60_000;

/**
 * Starts the only worker's run, on a database that can be cut off and with the claim of
 * `claimLeft`.
 */
async function startRun(
  claimLeft: () => number,
  beforeCall: (resource: string) => Promise<void> = () => Promise.resolve(),
) {
  const { db, close } = connectDatabase({
    url: tunnel.url,
    schema: TEST_SCHEMA,
    poolSize: 2,
    applicationName: 'paddock-test',
  });
  const waits = createWaits(db, () => undefined);
  const github = connectGitHub({
    apiUrl: proxies.github.url,
    apps: [{ appId: APP_ID, privateKey: world.privateKeyPem }],
    waits: {
      ...waits,
      left: (caller, resource) => beforeCall(resource).then(() => waits.left(caller, resource)),
    },
    requestTimeoutMs,
  });
  const cluster = connectCluster({
    kubeconfigFile: world.kube.writeKubeconfig(),
    server: proxies.cluster.url,
    requestTimeoutMs,
  });
  const kinds = schedulerKinds({ ...world.parts, db, github, cluster });
  const [worker] = await world.workers();
  const subject = { type: 'worker', id: worker?.pod_name ?? '', name: null };
  const counts = { attempt: 1, maxAttempts: 5, crashes: 0, fence: 1 };
  const task: Task = {
    id: 'a task',
    kind: 'provision-worker',
    subject,
    payload: {},
    deliveryGuid: null,
    ...counts,
    claimLeft,
  };
  const run = kinds['provision-worker']?.handler(task, new AbortController().signal);
  return {
    outcome: Promise.allSettled([run]).then(([settled]) => settled),
    stop: async () => {
      cluster.close();
      await close();
    },
  };
}

const MOMENTS = [
  { after: 'the registration', side: 'github', method: 'POST', path: '/generate-jitconfig$' },
  { after: 'the Secret', side: 'cluster', method: 'POST', path: '/secrets$' },
  { after: 'the pod', side: 'cluster', method: 'POST', path: '/pods$' },
] as const;

test.each(MOMENTS)(
  'PostgreSQL that goes away after $after is waited for: its one registration runs the job (C6, P1)',
  async (moment) => {
    await world.queueJob();
    await world.match();
    const held = proxies[moment.side].hold({ ...moment, at: 'answer' });
    let looks = 0;
    const { outcome, stop } = await startRun(() => {
      looks += 1;
      return 1;
    });
    await held.reached;
    await tunnel.cut();
    const looksBefore = looks;
    held.release();
    // Each failed statement looks at the lease; the Secret's creation does so once besides.
    await waitFor('statements to fail', () => looks >= looksBefore + 3);
    await tunnel.mend();
    expect(await outcome).toMatchObject({ status: 'fulfilled', value: { outcome: 'done' } });
    await stop();
    expect(await seen.registrations()).toHaveLength(1);
    expect(await seen.failures()).toEqual([]);
    await world.db.deleteFrom('tasks').execute();
    await seen.expectOneWorker();
    expect(await seen.alive()).toMatchObject([{ registered_labels: ['linux', 'self-hosted'] }]);
  },
);

test('PostgreSQL that stays away is waited for no longer than the lease allows (C6, D6)', async () => {
  await world.queueJob();
  await world.match();
  const held = proxies.github.hold({ method: 'POST', path: '/generate-jitconfig$', at: 'answer' });
  let left = 1;
  const { outcome, stop } = await startRun(() => left);
  await held.reached;
  await tunnel.cut();
  held.release();
  left = 0.3;
  expect(await outcome).toMatchObject({ status: 'rejected' });
  await tunnel.mend();
  await stop();
  expect(seen.secrets()).toEqual([]);
  await world.settle();
  expect(await seen.failures()).toEqual(['registration_interrupted']);
  await seen.expectOneWorker();
});

test('PostgreSQL that goes away between the mark and the registration costs no registration and no row (C6, P1)', async () => {
  await world.queueJob();
  await world.match();
  const { outcome, stop } = await startRun(
    () => 1,
    (resource) =>
      resource === 'actions_runner_registration'
        ? Promise.reject(new Error('the connection was closed'))
        : Promise.resolve(),
  );
  expect(await outcome).toMatchObject({ status: 'fulfilled', value: { outcome: 'snooze' } });
  await stop();
  expect(await seen.registrations()).toEqual([]);
  await world.settle();
  expect(await seen.failures()).toEqual([]);
  await seen.expectOneWorker();
});
