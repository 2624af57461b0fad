import { describe, expect, test } from '@jest/globals';
import { findWorkerToProvision, saveRegistration } from '@paddock/db/workers/workers';
import { examplePools } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { reprovisionForgotten } from '../matching/match-loop.ts';
import { APP_ID } from '../scenes/settings.scene.ts';
import { CALLS, taskFor } from '../scenes/stalled-run.scene.ts';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { failWorker } from './provisioning.ts';
import { putSecret, startPod } from './start-pod.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

const JIT = 'actions/generate-runner-jitconfig-for-org';
/** The worker of one more job is made. */
const makeNext = async () => {
  await world.queueJob();
  await world.settle();
};

describe('provisioning', () => {
  test('asks GitHub once and the cluster five times when all goes well, a token apart (P4)', async () => {
    await makeNext();
    const before = await world.calls();
    await makeNext();
    const made = Object.entries(await world.calls()).flatMap(([call, count]) =>
      count === before[call] ? [] : [[call, count - (before[call] ?? 0)]],
    );
    expect(Object.fromEntries(made)).toEqual({
      [JIT]: 1,
      'get pods': 1,
      'get secrets': 1,
      'create secrets': 1,
      'create pods': 1,
      'patch secrets': 1,
    });
  });

  test.each([
    { 'x-ratelimit-remaining': '-1' },
    { 'x-ratelimit-remaining': '0.5' },
    { 'x-ratelimit-reset': '99999999999999' },
    { 'x-ratelimit-reset': '8640000000000' },
    { 'x-ratelimit-reset': '-8640000000000' },
  ])('uses a registration although GitHub says %j with it (C6, P1)', async (odd) => {
    const body = { runner: { id: 77 }, encoded_jit_config: 'config' };
    const usual = {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000) + 600),
      'x-ratelimit-resource': 'actions_runner_registration',
    };
    const answer = { status: 201, body, headers: { ...usual, ...odd } };
    await world.gitHub.failNext({ path: '/generate-jitconfig$', ...answer });
    await world.queueJob();
    await world.match();
    await world.runTasks();
    expect(await world.workers()).toMatchObject([{ runner_id: 77, pod_uid: expect.any(String) }]);
  });

  test.each(['40P01', '40001', '25006', '57014', '53100'])(
    'repeats a statement that PostgreSQL refuses for the moment (%s): its registration is used (C6, P1)',
    async (state) => {
      await world.queueJob();
      await world.match();
      await sql`create sequence tries`.execute(world.db);
      await sql`create function refuse() returns trigger language plpgsql security definer as ${sql.lit(
        `begin if nextval('tries') < 3 then raise exception 'not now' using errcode = '${state}'; end if; return new; end`,
      )}`.execute(world.db);
      await sql`create trigger refuse before update of registered_at on workers for each row execute function refuse()`.execute(
        world.db,
      );
      await world.runTasks();
      await sql`drop function refuse cascade`.execute(world.db);
      await sql`drop sequence tries`.execute(world.db);
      expect(await seen.failures()).toEqual([]);
      await seen.expectOneWorker();
    },
  );

  test('a runner of that name at GitHub ends the row, not the registration (C6)', async () => {
    await world.gitHub.failNext({ path: '/generate-jitconfig$', status: 409 });
    const notStarted =
      'paddock_workers_ended_total{pool="linux",status="failed",reason="registration_interrupted"}';
    expect(await world.growth(notStarted, makeNext)).toBe(1);
    expect(await seen.failures()).toEqual(['registration_interrupted']);
    await seen.expectOneWorker();
  });

  test('a run that wakes up with a JIT config after its successor has ended the row makes no pod, and takes its Secret back (C6)', async () => {
    const { pod_name: podName } = await world.reserve();
    const worker = await findWorkerToProvision(world.db, podName, [APP_ID]);
    const [pool] = examplePools().pools;
    if (worker === undefined || pool === undefined) throw new Error('there is no worker');
    const reason = 'registration_interrupted';
    await failWorker(world.parts, worker, { reason, message: 'by its successor' });
    const run = { task: taskFor(podName, () => 1), signal: new AbortController().signal };
    for (const claimLeft of [1, 0]) {
      await putSecret(world.parts, worker, 'a JIT config', run);
      expect(seen.secrets()).toEqual([`runners/${podName}`]);
      const woken = { ...run, task: taskFor(podName, () => claimLeft) };
      expect(await startPod(world.parts, worker, pool, woken)).toMatchObject({ outcome: 'done' });
      expect([seen.pods(), seen.secrets()]).toEqual([[], []]);
    }
    expect(await saveRegistration(world.db, podName, { runnerId: 1, labels: [] })).toBe(false);
  });

  test('a row that is wanted no more ends before anybody asks GitHub (C3)', async () => {
    await world.reserve();
    await world.db.updateTable('jobs').set({ wants_worker: false }).execute();
    await world.settle();
    expect(await seen.failures()).toEqual(['unwanted']);
    expect([await seen.runners(), await seen.tasks()]).toEqual([[], []]);
  });

  test('a pool that goes before its worker is registered ends the worker, and says why the job waits (P5)', async () => {
    await world.reserve();
    await world.putPools({ pools: [{ name: 'other' }] });
    await world.runTasks();
    await world.match();
    expect(await seen.failures()).toEqual(['pool_unknown']);
    expect(await world.reasons()).toEqual(['pool_unknown']);
  });

  test('a worker whose task is gone is provisioned again, unless it is to be stopped; taken back into supply, it is (C3, P1)', async () => {
    await world.reserve();
    await world.db.deleteFrom('tasks').execute();
    expect(await reprovisionForgotten(world.db, 60_000)).toEqual([]);
    expect(await reprovisionForgotten(world.db, 0)).toHaveLength(1);
    expect(await reprovisionForgotten(world.db, 0)).toEqual([]);

    await world.db.deleteFrom('tasks').execute();
    const stopped = { stopping_at: new Date(), stop_reason: 'surplus' };
    await world.db.updateTable('workers').set(stopped).execute();
    expect(await reprovisionForgotten(world.db, 0)).toEqual([]);
    await world.match();
    await world.settle();
    await seen.expectOneWorker();
  });

  test('many workers at once, on two executors, make one pod each (C5, C6)', async () => {
    await world.queueJobs(20);
    await Promise.all([world.match(), world.match()]);
    await Promise.all([world.runTasks('one'), world.runTasks('two')]);
    // On a busy machine a call may have got no answer in time: its worker, or the one in its place,
    // is made now.
    await world.settle();
    const live = (await world.alive()).map((worker) => worker.pod_name);
    expect(live).toHaveLength(20);
    expect(seen.pods().toSorted()).toEqual(live.toSorted());
    expect((await seen.runners()).filter((name) => live.includes(name))).toHaveLength(20);
  });
});

const TOKEN = {
  what: 'minting a token',
  side: 'github',
  method: 'POST',
  path: 'access_tokens$',
} as const;
const WAYS = [
  { how: 'with 500', fault: { status: 500 } },
  { how: 'with 503 after the work was done', fault: { status: 503, afterCommit: true } },
  { how: 'with a cut connection', fault: {} },
  { how: 'with a cut connection after the work was done', fault: { afterCommit: true } },
  { how: 'with 403', fault: { status: 403 } },
  { how: 'with 404', fault: { status: 404 } },
  { how: 'with 429', fault: { status: 429 } },
] as const;

test.each([TOKEN, ...CALLS].flatMap((call) => WAYS.map((way) => Object.assign({}, call, way))))(
  '$what $how: the job gets one worker in the end, and each object has a row (C6, P1, P3)',
  async ({ side, method, path, fault }) => {
    const asked = async () => (await world.calls())[JIT] ?? 0;
    const before = await asked();
    if (side === 'github') await world.gitHub.failNext({ method, path, ...fault });
    else world.kube.failNext({ method, path, ...fault });
    await makeNext();
    await seen.expectOneWorker();
    // After a refusal the next attempt asks again. When a runner may exist, asking again would be
    // in vain (P4).
    const wasRefused = 'status' in fault && fault.status < 500;
    expect((await asked()) - before).toBeLessThanOrEqual(
      (await world.workers()).length + (wasRefused ? 1 : 0),
    );
  },
);

const scopes = async () => (await world.gitHub.truth()).runners.map(({ scope }) => scope);

describe('where a runner registers', () => {
  test('each repository of a user gets a separate runner (C2)', async () => {
    const sam = await world.addUser('sam', 'one', 'two');
    await world.queueJob({ repo: 'one' }, sam);
    await world.queueJob({ repo: 'two' }, sam);
    await world.settle();
    const both = ['sam/one', 'sam/two'];
    expect((await scopes()).filter((scope) => scope.startsWith('sam/')).toSorted()).toEqual(both);
    expect((await world.workers()).map((worker) => worker.repo_full_name)).toEqual(
      expect.arrayContaining(both),
    );
  });

  test('a pool can register at repositories of an organisation; the name is found although the job’s row is gone (A12, C2)', async () => {
    await world.putPools({ pools: [{ registration: 'repository' }] });
    await world.queueJob({ row: { scope_repo_id: world.apiRepositoryId } });
    await world.match();
    await world.db.deleteFrom('jobs').execute();
    await world.db.updateTable('workers').set({ registration_started_at: null }).execute();
    await world.runTasks();
    expect(await scopes()).toContain('acme/api');
  });

  test('the repository is found by its id if its job has waited: another one may have its former name (A12, C2)', async () => {
    const kay = await world.addUser('kay', 'ours', 'other');
    const row = { repo_full_name: 'kay/other', created_at: new Date(Date.now() - 3_600_000) };
    await world.queueJob({ repo: 'ours', row }, kay);
    await world.settle();
    expect((await scopes()).filter((scope) => scope.startsWith('kay/'))).toEqual(['kay/ours']);
  });

  test('a runner group is made once, and read anew only where runners get no job (C7, C11, P4)', async () => {
    await world.putPools({ pools: [{ runnerGroup: 'Paddock' }] });
    const groupCalls = async () =>
      Object.entries(await world.calls()).flatMap(([name, count]) =>
        name.includes('runner-group') ? [count] : [],
      );
    await makeNext();
    await makeNext();
    expect(await groupCalls()).toEqual([1, 1]);
    const [first] = await world.workers();
    await world.fail(first?.pod_name ?? '', 'not_assigned');
    await makeNext();
    expect(await groupCalls()).toEqual([2, 1]);
    expect((await world.workers()).every((worker) => worker.registered_at !== null)).toBe(true);
  });
});
