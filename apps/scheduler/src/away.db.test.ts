import { readFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { type Scheduler, useSchedulers } from './scenes/scheduler-process.scene.ts';
import { useSchedulerWorld } from './scenes/use-scheduler-world.scene.ts';
import type { TestEntity } from './scenes/entities.scene.ts';

const HOUR_MS = 3_600_000;
const JOBS = 6;
const POOLS = examplePools({
  pools: [{}, { name: 'other', labels: ['self-hosted', 'other'], namespace: 'others' }],
});

const world = useSchedulerWorld();
const schedulers = useSchedulers(world);
let sam: TestEntity;
beforeAll(async () => {
  sam = await world.addUser('sam', 'one');
});
beforeEach(() => schedulers.configure({}, POOLS));

/** A scheduler that waits for hours if it may: anything sooner had a cause. */
async function startScheduler(env: Readonly<Record<string, string>> = {}): Promise<Scheduler> {
  const rules = {
    queue: { taskPollMs: 300_000 },
    scheduler: { matchTickMs: 600_000 },
    db: { failingPauseMs: HOUR_MS, failingLongestPauseMs: HOUR_MS },
  };
  const scheduler = await schedulers.start(rules, env);
  await scheduler.untilReady();
  return scheduler;
}

const says = ({ get }: Scheduler, isAway: boolean) =>
  waitFor(`it to say ${isAway ? 'away' : 'back'}`, async () =>
    (await get('/metrics')).text.includes(
      `paddock_service_away{service="github"} ${isAway ? 1 : 0}`,
    ),
  );
const github = {
  service: 'github',
  probes: async () => (await world.gitHub.truth()).calls['rate-limit/get'] ?? 0,
  goes: () => world.gitHub.failNext({ path: '', status: 502, times: 1_000_000 }),
  returns: () => world.gitHub.clearFaults(),
};
const cluster = {
  service: 'default',
  probes: () => Promise.resolve(world.kube.report().calls['get server'] ?? 0),
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
  waitFor(`${service} to be away`, async () => (await world.outages()).includes(service));
const queueJobs = () => world.queueJobs(JOBS);
const allDone = (jobs = JOBS) =>
  waitFor(
    'all jobs to run',
    async () =>
      (await world.workers()).filter(({ status }) => status === 'completed').length === jobs,
  );
/** It ends with the first answer, but for one that the matcher may ask to confirm that. */
async function isOverAtOnce({ probes, returns }: Side): Promise<boolean> {
  await returns();
  const before = await probes();
  await allDone();
  expect([await world.outages(), await failures()]).toEqual([[], 0]);
  return (await probes()) <= before + 2;
}
const failures = async () =>
  (await world.db.selectFrom('operations').select('id').where('status', '=', 'ERROR').execute())
    .length;
const tasks = () => world.db.selectFrom('tasks').selectAll().execute();
const noTaskRuns = () =>
  waitFor('no task to run', async () =>
    (await tasks()).every(({ status }) => status !== 'running'),
  );

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
      await noTaskRuns();
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
    await noTaskRuns();
    first.kill('SIGKILL');
    await first.exited;
    expect(await isOverAtOnce(github)).toBe(true);
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
        await world.queueJobs(JOBS, { row: { k8s_pool: 'other', job_labels: '["other"]' } });
      },
    ],
  ])('%s for ever: it is not away, and others’ jobs run', async (_what, { probes }, fail) => {
    await startScheduler();
    const before = await probes();
    await fail();
    await waitFor('failures', async () => (await probes()) > before);
    await world.queueJobs(JOBS, {}, sam);
    await allDone();
    const done = (await world.workers()).filter(({ status }) => status === 'completed');
    expect(new Set(done.map((worker) => worker.entity_name))).toEqual(new Set(['sam']));
    expect(await world.outages()).toEqual([]);
  });

  test('one scheduler alone is cut off from GitHub: the other makes all workers, and the row goes', async () => {
    const tunnel = await startTunnel(world.gitHub.url);
    const shared = await schedulers.configure({ apiUrl: tunnel.url.replace(/\/$/, '') }, POOLS);
    const own = await schedulers.write('own.yaml', await readFile(shared, 'utf8'));
    const cutOff = await startScheduler({ PADDOCK_CONFIG: own });
    await schedulers.configure({}, POOLS);
    await tunnel.cut();
    await queueJobs();
    await says(cutOff, true);
    await startScheduler();
    await allDone();
    await queueJobs();
    await allDone(2 * JOBS);
    expect([await world.outages(), await failures()]).toEqual([[], 0]);
    await says(cutOff, true);
    await tunnel.mend();
    await says(cutOff, false);
    await tunnel.cut();
  });

  test('nothing is probed where nothing fails', async () => {
    const before = await bothProbes();
    await startScheduler();
    await queueJobs();
    await allDone();
    expect(await bothProbes()).toEqual(before);
  });
});
