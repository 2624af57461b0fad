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

const metricsOf = async ({ port }: Program) =>
  (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
const says = (scheduler: Program, isAway: boolean) =>
  waitFor(`it to say ${isAway ? 'away' : 'back'}`, async () =>
    (await metricsOf(scheduler)).includes(
      `paddock_service_away{service="github"} ${isAway ? 1 : 0}`,
    ),
  );
const outages = () => world.outages();
const github = {
  service: 'github',
  probes: async () => (await world.gitHub.truth()).calls['rate-limit/get'] ?? 0,
  goes: () => world.gitHub.failNext({ path: '', status: 502, times: 1_000_000 }),
  returns: () => world.gitHub.clearFaults(),
};
const cluster = {
  service: 'default',
  probes: () => Promise.resolve(world.kube.report().calls['get version'] ?? 0),
  goes: async () => {
    world.kube.failNext({ status: 503, times: 1_000_000 });
    world.kube.cutWatches();
    return Promise.resolve();
  },
  returns: () => Promise.resolve(world.kube.clearFaults()),
};
const bothProbes = () => Promise.all([github.probes(), cluster.probes()]);
type Side = typeof github | typeof cluster;
const isAway = ({ service }: Side) =>
  waitFor(`${service} to be away`, async () => (await outages()).includes(service));
const queueJobs = async () => {
  for (let n = 0; n < JOBS; n += 1) await world.queueJob();
};
const queueOthers = async () => {
  for (let n = 0; n < JOBS; n += 1) await world.queueJobOf(sam, 'one');
};
/**
 * Pods are followed 8 s after the scheduler before was killed: a busy machine needs a wide net. Any
 * poll, tick or pause comes later.
 */
const NET_MS = 120_000;
const allDone = (jobs = JOBS) =>
  waitFor(
    'all jobs to run',
    async () =>
      (await world.workers()).filter(({ status }) => status === 'completed').length === jobs,
    { timeoutMs: NET_MS },
  );
/** It ends with the first answer, but for one that the matcher may ask to confirm that. */
async function isOverAtOnce({ probes, returns }: Side): Promise<boolean> {
  await returns();
  const before = await probes();
  await allDone();
  expect([await outages(), await failures()]).toEqual([[], 0]);
  return (await probes()) <= before + 2;
}
const failures = async () =>
  (await world.db.selectFrom('operations').select('id').where('status', '=', 'ERROR').execute())
    .length;
const tasks = () => world.db.selectFrom('tasks').selectAll().execute();

describe('an outage is over when it is over (C11)', () => {
  test.each([github, cluster])(
    '$service answers nothing, and again: all workers are made at once, though every pause, poll and tick is hours away',
    async (side) => {
      await startScheduler();
      await side.goes();
      await queueJobs();
      await isAway(side);
      const before = await side.probes();
      await waitFor('probes in vain', async () => (await side.probes()) >= before + 2);
      expect((await tasks()).filter(({ attempt }) => attempt > 0)).toEqual([]);
      expect(await isOverAtOnce(side)).toBe(true);
    },
  );

  test('a scheduler is killed in an outage: another one goes on with the first answer', async () => {
    const [first, second] = [await startScheduler(), await startScheduler()];
    await github.goes();
    await queueJobs();
    await isAway(github);
    for (const scheduler of [first, second]) await says(scheduler, true);
    // A claim of a dead process goes on with the next poll only, which is minutes away here.
    await waitFor('no task to run', async () =>
      (await tasks()).every(({ status }) => status !== 'running'),
    );
    first.kill('SIGKILL');
    await first.exited;
    expect(await isOverAtOnce(github)).toBe(true);
  });

  test('an outage ends while no scheduler lives: the next one asks its own probe at once', async () => {
    for (const { service } of [github, cluster]) await noteAway(world.db, service, 'no answer');
    await queueJobs();
    await startScheduler();
    await allDone();
    expect(await outages()).toEqual([]);
  });

  test('GitHub is probed although it has asked the entity that waits to make no calls', async () => {
    await startScheduler();
    await github.goes();
    await queueJobs();
    await isAway(github);
    const { entityId, installationId } = world;
    const waits = createWaits(world.db, () => undefined);
    const wait = { ms: HOUR_MS, message: 'slow down' };
    await waits.note({ appId: APP_ID, entityId, installationId }, wait);
    await github.returns();
    await waitFor('the outage to end', async () => (await outages()).length === 0);
    expect(await failures()).toBe(0);
  });
});

describe('what fails for one is not away for others (C11, P6)', () => {
  test.each([
    [
      'one organisation’s registrations are answered 502',
      github,
      async () => {
        const path = '/orgs/acme/actions/runners/generate-jitconfig';
        await world.gitHub.failNext({ path, status: 502, times: 1_000_000 });
        await queueJobs();
      },
    ],
    [
      'creations in one namespace are answered 503',
      cluster,
      async () => {
        const path = '/namespaces/others/pods$';
        world.kube.failNext({ method: 'POST', path, status: 503, times: 1_000_000 });
        for (let n = 0; n < JOBS; n += 1)
          await world.queueJob({ row: { k8s_pool: 'other', job_labels: '["other"]' } });
      },
    ],
  ])('%s for ever: it is not away, and others’ jobs run', async (_what, { probes }, fail) => {
    await startScheduler();
    const before = await probes();
    await fail();
    await waitFor('failures', async () => (await probes()) > before);
    await queueOthers();
    await allDone();
    const done = (await world.workers()).filter(({ status }) => status === 'completed');
    expect(new Set(done.map((worker) => worker.entity_name))).toEqual(new Set(['sam']));
    expect(await outages()).toEqual([]);
  });

  test('one scheduler alone is cut off from GitHub: the other makes all workers, and the row goes', async () => {
    const cutOff = await startScheduler('tunnel');
    await tunnel.cut();
    await queueJobs();
    await says(cutOff, true);
    await startScheduler();
    await allDone();
    await queueJobs();
    await allDone(2 * JOBS);
    expect([await outages(), await failures()]).toEqual([[], 0]);
    await says(cutOff, true);
    await tunnel.mend();
    await says(cutOff, false);
  });

  test('nothing is probed where nothing fails', async () => {
    const before = await bothProbes();
    await startScheduler();
    await queueJobs();
    await allDone();
    expect(await bothProbes()).toEqual(before);
  });
});
