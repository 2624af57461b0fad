import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/breakers/waits';
import { metricSum } from '@paddock/testing/metric-sum';
import { startService } from '@paddock/testing/processes';
import { untilDisconnected } from '@paddock/testing/until-disconnected';
import { waitFor } from '@paddock/testing/wait-for';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';

type Program = Awaited<ReturnType<typeof startService>>;

const HOUR_MS = '3600000';
const JOBS = 6;

let world: SchedulerWorld;
let folder: string;
let schedulers: Program[];

beforeAll(async () => {
  world = await startSchedulerWorld();
  folder = await mkdtemp(join(tmpdir(), 'paddock-probing-'));
  const { pools, entities } = world.pools;
  const github = { apiUrl: world.gitHub.url, apps: [{ id: 1001, privateKey: { env: 'APP_KEY' } }] };
  await writeFile(join(folder, 'paddock.yaml'), JSON.stringify({ github, pools, entities }));
});
afterAll(async () => {
  await world.stop();
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

/** A prober that waits for hours if it may: anything sooner had a cause. */
async function startScheduler(): Promise<Program> {
  const scheduler = await startService({
    app: 'scheduler',
    env: {
      DATABASE_URL: world.databaseUrl,
      PADDOCK_CONFIG: join(folder, 'paddock.yaml'),
      PADDOCK_KUBECONFIG: world.kube.writeKubeconfig(),
      PADDOCK_SCHEDULER_HTTP_PORT: '0',
      PADDOCK_HTTP_HOST: '127.0.0.1',
      APP_KEY: world.privateKeyPem,
      PADDOCK_TASK_POLL_MS: '300000',
      PADDOCK_MATCH_TICK_MS: '600000',
      PADDOCK_BREAKER_PAUSE_MS: HOUR_MS,
      PADDOCK_BREAKER_LONGEST_PAUSE_MS: HOUR_MS,
    },
  });
  schedulers.push(scheduler);
  await waitFor(
    'readiness',
    async () => (await fetch(`http://127.0.0.1:${scheduler.port}/readyz`)).status === 200,
  );
  return scheduler;
}

const probesOf = async ({ port }: Program) =>
  metricSum(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), 'paddock_probes_total');
/** A prober without a token mints one first. While a breaker is open only probers do that. */
const gitHubProbes = async () => {
  const { calls } = await world.gitHub.truth();
  return (calls['rate-limit/get'] ?? 0) + (calls['apps/create-installation-access-token'] ?? 0);
};
/** How often a scheduler took the turn to probe. */
const turns = async () =>
  (
    await world.db
      .selectFrom('leases')
      .select('fence')
      .where('name', '=', 'probe')
      .executeTakeFirst()
  )?.fence ?? 0;
const clusterProbes = () => world.kube.report().calls['get version'] ?? 0;
const probeCalls = async () => [
  (await world.gitHub.truth()).calls['rate-limit/get'],
  clusterProbes(),
];
const breaker = () =>
  world.db.selectFrom('breakers').selectAll().where('pauses', '>', 0).executeTakeFirst();
const isOpen = () => waitFor('the breaker to open', async () => (await breaker()) !== undefined);
const queueJobs = async () => {
  for (let n = 0; n < JOBS; n += 1) await world.queueJob();
};
/**
 * Pods are followed 8 s after the scheduler before was killed, and five trials in turn take their
 * time: a busy machine needs a wide net.
 */
const NET_MS = 120_000;
const allDone = () =>
  waitFor(
    'all jobs to run',
    async () =>
      (await world.workers()).filter(({ status }) => status === 'completed').length === JOBS,
    {
      timeoutMs: NET_MS,
    },
  );
const failures = async () =>
  (await world.db.selectFrom('operations').select('status').where('status', '=', 'ERROR').execute())
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
  test('GitHub refuses everything, and takes it again: all workers are made, though every pause, poll and tick is hours away', async () => {
    const scheduler = await startScheduler();
    await world.gitHub.failNext({ path: '', status: 502, times: 1_000_000 });
    await queueJobs();
    await isOpen();
    const before = await gitHubProbes();
    await waitFor('probes in vain', async () => (await gitHubProbes()) >= before + 2);
    expect(await breaker()).toMatchObject({ subject_type: 'github', answered_at: null });
    expect(await attempts()).toEqual([]);
    await world.gitHub.clearFaults();
    await allDone();
    expect(await breaker()).toBeUndefined();
    expect(await failures()).toBe(0);
    const probes = await probesOf(scheduler);
    expect(probes).toBeGreaterThanOrEqual(2);
  });

  test('GitHub is probed although it has asked the entity that waits to make no calls', async () => {
    await startScheduler();
    await world.gitHub.failNext({ path: '', status: 502, times: 1_000_000 });
    await queueJobs();
    await isOpen();
    const waits = createWaits(world.db, () => undefined);
    await waits.note({ entityId: world.entityId }, { ms: Number(HOUR_MS), message: 'slow down' });
    await world.gitHub.clearFaults();
    expect(
      await waitFor('an answer', async () => (await breaker())?.answered_at ?? undefined),
    ).toBeInstanceOf(Date);
  });

  test('the first answer has a worker tried also where no task waits for it', async () => {
    await world.db
      .insertInto('breakers')
      .values({
        subject_type: 'github',
        subject_id: '',
        failure_class: 'unavailable',
        failures: 0,
        pauses: 1,
        paused_until: new Date(Date.now() + Number(HOUR_MS)),
        opened_at: new Date(),
        message: 'no answer',
      })
      .execute();
    await queueJobs();
    await startScheduler();
    await allDone();
    expect(await breaker()).toBeUndefined();
  });

  test('only the registration fails: trials follow one another with growing pauses until it works', async () => {
    await startScheduler();
    await world.gitHub.failNext({ path: 'generate-jitconfig', status: 502, times: 5 });
    await queueJobs();
    await allDone();
    expect(await breaker()).toBeUndefined();
    expect(await failures()).toBe(0);
  });

  test('the API server goes and comes back: all workers are made, and no task fails', async () => {
    await startScheduler();
    world.kube.failNext({ status: 503, times: 1_000_000 });
    world.kube.cutWatches();
    await queueJobs();
    await isOpen();
    const before = clusterProbes();
    await waitFor('probes in vain', () => clusterProbes() >= before + 2);
    expect(await breaker()).toMatchObject({ subject_type: 'cluster', answered_at: null });
    world.kube.clearFaults();
    await allDone();
    expect(await breaker()).toBeUndefined();
    expect(await failures()).toBe(0);
  });

  test('one of two schedulers probes at a time, and the other when that one dies', async () => {
    const [first, second] = [await startScheduler(), await startScheduler()];
    await world.gitHub.failNext({ path: '', status: 502, times: 1_000_000 });
    await queueJobs();
    await isOpen();
    const [turnsBefore, before] = [await turns(), await gitHubProbes()];
    // If both probed in each turn, these would be twice as many as the turns.
    await waitFor('some probes', async () => (await gitHubProbes()) >= before + 7);
    const after = await gitHubProbes();
    // Of turns that were taken before, one probe of each scheduler may still have been on its way.
    expect(after - before).toBeLessThanOrEqual((await turns()) - turnsBefore + 2);
    const prober = (await probesOf(first)) > (await probesOf(second)) ? first : second;
    prober.kill('SIGKILL');
    await prober.exited;
    const left = await gitHubProbes();
    await waitFor('probes of the other', async () => (await gitHubProbes()) > left);
    await world.gitHub.clearFaults();
    await allDone();
  });

  test('probes nothing where nothing fails', async () => {
    const scheduler = await startScheduler();
    const before = await probeCalls();
    await queueJobs();
    await allDone();
    expect(await probeCalls()).toEqual(before);
    expect(await probesOf(scheduler)).toBe(0);
  });
});
