import { rulesVariable } from '@paddock/runtime/rules';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/entities/waits';
import { noteAway } from '@paddock/db/outages';
import { examplePools } from '@paddock/testing/demand-rows';
import { startService } from '@paddock/testing/processes';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { untilDisconnected } from '@paddock/testing/until-disconnected';
import { waitFor } from '@paddock/testing/wait-for';
import { type SchedulerWorld, startSchedulerWorld } from './scenes/scheduler.scene.ts';
import { APP_ID } from './scenes/settings.scene.ts';

type Program = Awaited<ReturnType<typeof startService>>;

const HOUR_MS = 3_600_000;
const JOBS = 6;

let world: SchedulerWorld;
let sam: Awaited<ReturnType<SchedulerWorld['addUser']>>;
let tunnel: Tunnel;
let folder: string;
let schedulers: Program[];

beforeAll(async () => {
  world = await startSchedulerWorld();
  sam = await world.addUser('sam', ['one']);
  tunnel = await startTunnel(world.gitHub.url);
  folder = await mkdtemp(join(tmpdir(), 'paddock-away-'));
  const { pools, entities } = examplePools({
    pools: [{}, { name: 'other', labels: ['self-hosted', 'other'], namespace: 'others' }],
  });
  const apps = [{ id: 1001, privateKey: { env: 'APP_KEY' } }];
  const urls = { direct: world.gitHub.url, tunnel: tunnel.url.replace(/\/$/, '') };
  for (const [name, apiUrl] of Object.entries(urls))
    await writeFile(
      join(folder, `${name}.yaml`),
      JSON.stringify({ github: { apiUrl, apps }, pools, entities }),
    );
});
afterAll(async () => {
  await world.stop();
  await tunnel.cut();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  schedulers = [];
  await world.reset();
});
afterEach(async () => {
  for (const { kill } of schedulers) kill('SIGKILL');
  await Promise.all(schedulers.map(({ exited }) => exited));
  await untilDisconnected(world.db, 'scheduler');
});

/** A scheduler that waits for hours if it may: anything sooner had a cause. */
async function startScheduler(way: 'direct' | 'tunnel' = 'direct'): Promise<Program> {
  const scheduler = await startService({
    app: 'scheduler',
    env: {
      DATABASE_URL: world.databaseUrl,
      PADDOCK_CONFIG: join(folder, `${way}.yaml`),
      PADDOCK_KUBECONFIG: world.kube.writeKubeconfig(),
      PADDOCK_HEALTH_PORT: '0',
      PADDOCK_HTTP_HOST: '127.0.0.1',
      APP_KEY: world.privateKeyPem,
      ...rulesVariable({
        queue: { taskPollMs: 300_000 },
        scheduler: { matchTickMs: 600_000 },
        db: { failingPauseMs: HOUR_MS, failingLongestPauseMs: HOUR_MS },
      }),
    },
  });
  schedulers.push(scheduler);
  await waitFor(
    'readiness',
    async () => (await fetch(`http://127.0.0.1:${scheduler.port}/readyz`)).status === 200,
  );
  return scheduler;
}

async function stopScheduler(scheduler: Program): Promise<void> {
  scheduler.kill('SIGKILL');
  await scheduler.exited;
}

const metricsOf = async ({ port }: Program) =>
  (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
const githubProbes = async () => (await world.gitHub.truth()).calls['rate-limit/get'] ?? 0;
const clusterProbes = () => world.kube.report().calls['get version'] ?? 0;
const outages = async () =>
  (await world.db.selectFrom('outages').select('service').orderBy('service').execute()).map(
    ({ service }) => service,
  );
const isAway = (service: string) =>
  waitFor(`${service} to be away`, async () => (await outages()).includes(service));
const githubGoes = () => world.gitHub.failNext({ path: '', status: 502, times: 1_000_000 });
const queueJobs = async () => {
  for (let n = 0; n < JOBS; n += 1) await world.queueJob();
};
/**
 * Pods are followed 8 s after the scheduler before was killed: a busy machine needs a wide net. Any
 * poll, tick or pause comes later.
 */
const NET_MS = 120_000;
const allDone = () =>
  waitFor(
    'all jobs to run',
    async () =>
      (await world.workers()).filter(({ status }) => status === 'completed').length === JOBS,
    { timeoutMs: NET_MS },
  );
const failures = async () =>
  (await world.db.selectFrom('operations').select('status').where('status', '=', 'ERROR').execute())
    .length;
const running = async () =>
  (await world.db.selectFrom('tasks').select('id').where('status', '=', 'running').execute())
    .length;
const attempts = async () =>
  (
    await world.db
      .selectFrom('tasks')
      .select('attempt')
      .where('kind', '=', 'provision-worker')
      .execute()
  ).filter(({ attempt }) => attempt > 0);

describe('an outage is over when it is over (C11)', () => {
  test('GitHub refuses everything, and takes it again: all workers are made at once, though every pause, poll and tick is hours away', async () => {
    await startScheduler();
    await githubGoes();
    await queueJobs();
    await isAway('github');
    const before = await githubProbes();
    await waitFor('probes in vain', async () => (await githubProbes()) >= before + 2);
    expect([await attempts(), await outages()]).toEqual([[], ['github']]);
    await world.gitHub.clearFaults();
    const probes = await githubProbes();
    await allDone();
    // The first answer ended it; the matcher may confirm that once.
    expect(await githubProbes()).toBeLessThanOrEqual(probes + 2);
    expect([await outages(), await failures()]).toEqual([[], 0]);
  });

  test('the API server goes and comes back: all workers are made at once, and no task fails', async () => {
    await startScheduler();
    world.kube.failNext({ status: 503, times: 1_000_000 });
    world.kube.cutWatches();
    await queueJobs();
    await isAway('default');
    const before = clusterProbes();
    await waitFor('probes in vain', () => clusterProbes() >= before + 2);
    expect(await attempts()).toEqual([]);
    world.kube.clearFaults();
    const probes = clusterProbes();
    await allDone();
    // The first answer ended it; the matcher may confirm that once.
    expect(clusterProbes()).toBeLessThanOrEqual(probes + 2);
    expect([await outages(), await failures()]).toEqual([[], 0]);
  });

  test('a scheduler is killed in an outage: another one goes on with the first answer', async () => {
    const [first, second] = [await startScheduler(), await startScheduler()];
    await githubGoes();
    await queueJobs();
    await isAway('github');
    await waitFor('both to know', async () =>
      (await Promise.all([first, second].map(metricsOf))).every((text) =>
        text.includes('paddock_service_away{service="github"} 1'),
      ),
    );
    // A claim of a dead process goes on with the next poll only, which is minutes away here.
    await waitFor('no task to run', async () => (await running()) === 0);
    await stopScheduler(first);
    await world.gitHub.clearFaults();
    const probes = await githubProbes();
    await allDone();
    // The first answer ended it; the matcher may confirm that once.
    expect(await githubProbes()).toBeLessThanOrEqual(probes + 2);
    expect(await outages()).toEqual([]);
  });

  test('an outage ends while no scheduler lives: the next one asks its own probe at once', async () => {
    await noteAway(world.db, 'github', 'no answer');
    await noteAway(world.db, 'default', 'no answer');
    await queueJobs();
    await startScheduler();
    await allDone();
    expect(await outages()).toEqual([]);
  });

  test('GitHub is probed although it has asked the entity that waits to make no calls', async () => {
    await startScheduler();
    await githubGoes();
    await queueJobs();
    await isAway('github');
    const { entityId, installationId } = world;
    const caller = { appId: APP_ID, entityId, installationId };
    const waits = createWaits(world.db, () => undefined);
    await waits.note(caller, { ms: HOUR_MS, message: 'slow down' });
    await world.gitHub.clearFaults();
    await waitFor('the outage to end', async () => (await outages()).length === 0);
    expect(await failures()).toBe(0);
  });
});

describe('what fails for one is not away for others (C11, P6)', () => {
  test('one organisation’s registrations are answered 502 for ever: GitHub is not away, and others’ jobs run', async () => {
    await startScheduler();
    const before = await githubProbes();
    await world.gitHub.failNext({
      path: '/orgs/acme/actions/runners/generate-jitconfig',
      status: 502,
      times: 1_000_000,
    });
    await queueJobs();
    await waitFor('failures', async () => (await githubProbes()) > before);
    for (let n = 0; n < JOBS; n += 1) await world.queueJobOf(sam, 'one');
    await allDone();
    expect((await world.workers()).filter(({ status }) => status === 'completed')).toEqual(
      Array.from({ length: JOBS }, () => expect.objectContaining({ entity_name: 'sam' })),
    );
    expect(await outages()).toEqual([]);
  });

  test('creations in one namespace are answered 503 for ever: the cluster is not away, and others’ jobs run', async () => {
    await startScheduler();
    const before = clusterProbes();
    const path = '/namespaces/others/pods$';
    world.kube.failNext({ method: 'POST', path, status: 503, times: 1_000_000 });
    for (let n = 0; n < JOBS; n += 1)
      await world.queueJob({ row: { k8s_pool: 'other', job_labels: '["other"]' } });
    await waitFor('failures', () => clusterProbes() > before);
    for (let n = 0; n < JOBS; n += 1) await world.queueJobOf(sam, 'one');
    await allDone();
    expect(await outages()).toEqual([]);
  });

  test('one scheduler alone is cut off from GitHub: the other makes all workers, and the row goes', async () => {
    const cutOff = await startScheduler('tunnel');
    await tunnel.cut();
    await queueJobs();
    await waitFor('it to find out', async () =>
      (await metricsOf(cutOff)).includes('paddock_service_away{service="github"} 1'),
    );
    await startScheduler();
    await allDone();
    await queueJobs();
    await waitFor(
      'further jobs to run',
      async () =>
        (await world.workers()).filter(({ status }) => status === 'completed').length === 2 * JOBS,
      { timeoutMs: NET_MS },
    );
    expect([await outages(), await failures()]).toEqual([[], 0]);
    expect(await metricsOf(cutOff)).toContain('paddock_service_away{service="github"} 1');
    await tunnel.mend();
    await waitFor('it to be back', async () =>
      (await metricsOf(cutOff)).includes('paddock_service_away{service="github"} 0'),
    );
  });

  test('nothing is probed where nothing fails', async () => {
    const before = [await githubProbes(), clusterProbes()];
    await startScheduler();
    await queueJobs();
    await allDone();
    expect([await githubProbes(), clusterProbes()]).toEqual(before);
  });
});
