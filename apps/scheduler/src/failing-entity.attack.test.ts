import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { ofJob } from '@paddock/testing/deliveries-to-record';
import { waitFor } from '@paddock/testing/wait-for';
import type { TestEntity } from './scenes/entities.scene.ts';
import { NAMESPACE } from './scenes/scheduler.scene.ts';
import { APP_ID } from './scenes/settings.scene.ts';
import { useFollowedPods, useSchedulerWorld } from './scenes/use-scheduler-world.scene.ts';

// The organisation acme attacks; sam has done nothing and uses the same pools.

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);
let sam: TestEntity;
let helpers: TestEntity[];
beforeAll(async () => {
  sam = await world.addUser('sam', 'one');
  helpers = [await world.addUser('eve', 'one'), await world.addUser('mallory', 'one')];
});
beforeEach(() => world.putPools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const workersOf = async (login: string) =>
  (await world.workers()).filter(({ entity_name: name }) => name === login);
const living = async (login: string) =>
  (await world.alive()).filter(({ entity_name: name }) => name === login);
/** How many live workers are registered and have a pod. */
const servedOf = async (login: string, pool = 'linux') =>
  (await living(login)).filter(
    (worker) =>
      worker.k8s_pool === pool && worker.registered_at !== null && worker.pod_uid !== null,
  ).length;
const reasonOf = async (login: string) => {
  const key = world.db.selectFrom('demand_keys').select('wait_reason');
  const ofPool = key.where('entity_name', '=', login).where('k8s_pool', '=', 'linux');
  return (await ofPool.executeTakeFirst())?.wait_reason;
};
const queueOf = (user: TestEntity, count: number, pool = 'linux') =>
  world.queueJobs(count, { row: { k8s_pool: pool } }, user);
/** Jobs of acme. */
const queue = (count: number, pool = 'linux') =>
  world.queueJobs(count, { row: { k8s_pool: pool, job_labels: JSON.stringify([pool]) } });
const matchAndRun = async () => {
  await world.match();
  await world.makeDue();
  await world.runTasks();
};
/** How many of five further jobs of sam have their runner at once. */
async function serveOthers(): Promise<number> {
  const before = await servedOf('sam');
  await queueOf(sam, 5);
  await matchAndRun();
  expect([await reasonOf('sam'), await world.outages()]).toEqual([null, []]);
  return (await servedOf('sam')) - before;
}
/** As if every wait and pause of the attackers were over: they try as often as they may. */
async function tryAgain(): Promise<void> {
  await world.endPauses();
  await world.endWaits();
  await world.endRefusedTimes();
  await matchAndRun();
}
/** Resolves once these workers' pods have this phase, and the follower has seen it. */
async function see(phase: 'Running' | 'Failed', names: readonly string[]): Promise<void> {
  const list = await waitFor(`the pods to be ${phase}`, async () => {
    const ours = (await pods.list()).filter(({ name }) => names.includes(name));
    return ours.length === names.length && ours.every((pod) => pod.phase === phase) && ours;
  });
  await pods.take(list);
}
/** These runners end with an error. */
async function endAll(names: readonly string[]): Promise<void> {
  for (const name of names)
    world.kube.endPod({ namespace: NAMESPACE, name, end: 'failed', exitCode: 1 });
  await see('Failed', names);
}

/** Three jobs of acme on runners that are up, by the runners' names. */
async function startThree(): Promise<Map<string, number>> {
  await queue(3);
  await matchAndRun();
  const workers = await workersOf('acme');
  await see(
    'Running',
    workers.map((worker) => worker.pod_name),
  );
  return new Map(workers.map((worker) => [worker.pod_name, worker.made_for_job_id ?? 0]));
}

/** GitHub's word that a job runs on a runner, as ingress stores it. */
async function hearInProgress(jobId: number, runnerName: string): Promise<void> {
  const runner = (await world.workers()).find(({ pod_name: name }) => name === runnerName);
  const job = {
    runner_name: runnerName,
    runner_id: runner?.runner_id ?? 0,
    started_at: new Date().toISOString(),
  };
  const owner = { id: world.entityId, login: 'acme', type: 'Organization' };
  const from = { app: APP_ID, installation: world.installationId };
  const delivery = ofJob('in_progress', jobId, { labels: ['linux'], owner, job, ...from });
  await recordDeliveries(world.db, [delivery], { version: 1, document: world.pools });
}

describe('an entity whose runners fail on purpose delays no other entity (C11, P6)', () => {
  test('jobs that end their own runner before in_progress is stored; the late word takes the failures back', async () => {
    const runs = await startThree();
    await endAll([...runs.keys()]);
    await world.holdPauses();
    expect(await serveOthers()).toBe(5);
    await queue(3);
    await matchAndRun();
    expect([await living('acme'), await reasonOf('acme')]).toEqual([[], 'workers_failing']);

    for (const [name, jobId] of runs) await hearInProgress(jobId, name);
    expect(await world.failing()).toEqual([]);
    await matchAndRun();
    expect(await servedOf('acme')).toBe(3);
  });

  test('an administrator who deletes registrations as they come', async () => {
    const names = [...(await startThree()).keys()];
    for (const name of names) await world.deleteRunner(name);
    // A runner whose end GitHub does not see.
    await endAll(names);
    expect(await serveOthers()).toBe(5);
  });

  test('for as long as it likes: it gets one runner a time, and others all of theirs', async () => {
    const rounds: [tried: number, served: number][] = [];
    for (let round = 0; round < 6; round += 1) {
      await queue(3);
      await tryAgain();
      const running = (await living('acme')).map((worker) => worker.pod_name);
      await see('Running', running);
      await endAll(running);
      rounds.push([running.length, await serveOthers()]);
    }
    expect(rounds).toEqual([3, 1, 1, 1, 1, 1].map((tried) => [tried, 5]));
  });
});

/** What GitHub may answer to registrations for how the entity is set up. */
const ANSWERS = [
  { status: 400 },
  { status: 409 },
  { status: 422 },
  { status: 307, headers: { location: 'http://localhost:1/stolen' } },
  { status: 200, body: {} },
  { status: 500 },
  { status: 502 },
  { status: 503, afterCommit: true },
  { status: 503, headers: { 'retry-after': '3600' } },
  { cut: 'the connection' },
];
/** What GitHub may tell us of the entity instead. */
const TOLD = [
  { status: 401 },
  { status: 403 },
  { status: 404 },
  { status: 403, headers: { 'retry-after': '3600' } },
  { status: 429, headers: { 'retry-after': '3600' } },
];

const refuse = (fault: object) =>
  world.gitHub.failNext({
    path: '^/orgs/acme/actions/runners/generate-jitconfig$',
    times: 1_000_000,
    ...fault,
  });

describe('an entity whose registrations GitHub answers with (P6)', () => {
  test.each([...ANSWERS, ...TOLD])(
    '%j: others are served at once, again and again',
    async (fault) => {
      await refuse(fault);
      for (let round = 0; round < 3; round += 1) {
        // The oldest jobs are the attacker's.
        await queue(3);
        await tryAgain();
        expect(await serveOthers()).toBe(5);
      }
      expect(await servedOf('acme')).toBe(0);
    },
  );

  test.each(ANSWERS)('%j: its key alone is paused, and its other pool is served', async (fault) => {
    await refuse(fault);
    await queue(3);
    for (let n = 0; n < 3; n += 1) await matchAndRun();
    expect(await world.failing()).toMatchObject([{ entity: 'acme', pool: 'linux', pauses: 1 }]);
    await world.gitHub.clearCallFaults();
    await world.holdPauses();
    await queue(1, 'gpu');
    await matchAndRun();
    expect([await servedOf('acme', 'gpu'), await servedOf('acme')]).toEqual([1, 0]);
  });
});

test('an entity whose token GitHub does not mint, and says when to ask again: others get theirs, and it goes on within a minute (P6)', async () => {
  const [ill, well] = [await world.addUser('ill', 'one'), await world.addUser('well', 'one')];
  const path = `^/app/installations/${ill.installationId}/access_tokens$`;
  const fault = { path, status: 503, headers: { 'retry-after': '3600' }, times: 3 };
  await world.gitHub.failNext(fault);
  await queueOf(ill, 1);
  await matchAndRun();
  await queueOf(well, 2);
  await matchAndRun();
  expect([await servedOf('ill'), await servedOf('well')]).toEqual([0, 2]);
  const due = world.db.selectFrom('tasks').select(({ fn }) => fn.max('due_at').as('last'));
  const { last } = await due.executeTakeFirstOrThrow();
  expect(Number(last)).toBeLessThan(Date.now() + 61_000);
});

/** Every class of failure that has rules of its own, and some that have none. */
const CLASSES = [
  'github_error',
  'invalid',
  'conflict',
  'unusable',
  'pod_refused',
  'cluster_error',
  'image_pull',
  'container_config',
  'node_refused',
  'pending_timeout',
  'outdated_runner',
  'not_assigned',
  'exit_code',
  'a class of a later version',
];

/** The key of each of these workers fails ten times, as soon as it may. */
async function fail(podNames: readonly string[], failureClass: string): Promise<void> {
  for (let n = 0; n < 10; n += 1) {
    await world.endPauses();
    for (const podName of podNames) await world.fail(podName, failureClass);
  }
  await world.holdPauses();
}

/** The first worker of each attacker; the jobs go on waiting. */
async function startAttackers(attackers: readonly TestEntity[]): Promise<string[]> {
  await queue(3);
  for (const attacker of attackers) await queueOf(attacker, 3);
  await world.match();
  const logins = ['acme', ...attackers.map(({ login }) => login)];
  const workers = await Promise.all(logins.map(workersOf));
  return workers.flatMap(([first]) => (first === undefined ? [] : [first.pod_name]));
}

test('a repository to whose jobs GitHub gives no runner: others of its organisation have theirs at once (P6)', async () => {
  await fail(await startAttackers([]), 'not_assigned');
  await world.queueJobs(2, { row: { repo_id: world.apiRepositoryId + 1 } });
  await matchAndRun();
  expect(await servedOf('acme')).toBe(2);
});

const samsServed = async () => [await servedOf('sam'), await servedOf('sam', 'gpu')];

describe.each(CLASSES)('failures of the class %s (C11, P6)', (failureClass) => {
  test('of one entity: all others in its pool have their runners at once, and so has its other pool', async () => {
    await fail(await startAttackers([]), failureClass);
    expect(await serveOthers()).toBe(5);
    expect(await servedOf('acme')).toBe(0);
    await queue(1, 'gpu');
    await matchAndRun();
    expect(await servedOf('acme', 'gpu')).toBe(1);
    expect(await world.failing()).toMatchObject([{ entity: 'acme', pool: 'linux' }]);
  });

  test('of three entities: all others in their pool have one runner at once, the rest once it runs, and in other pools all', async () => {
    const attackers = await startAttackers(helpers);
    await fail(attackers, failureClass);
    await queueOf(sam, 5, 'gpu');
    await queueOf(sam, 5);
    await matchAndRun();
    expect([await samsServed(), await reasonOf('sam')]).toEqual([[1, 5], 'pool_suspected']);
    expect(await world.failing()).toHaveLength(3);
    await see(
      'Running',
      (await living('sam')).map((worker) => worker.pod_name),
    );
    await matchAndRun();
    expect(await samsServed()).toEqual([5, 5]);
    // From then on there is no suspicion, however often the others fail.
    await fail(attackers, failureClass);
    expect(await serveOthers()).toBe(5);
  });
});
