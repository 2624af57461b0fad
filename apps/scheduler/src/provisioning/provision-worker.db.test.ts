import { describe, expect, test } from '@jest/globals';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { findWorkerToProvision, saveRegistration } from '@paddock/db/workers/workers';
import { reprovisionForgotten } from '../matching/match-loop.ts';
import { examplePools } from '@paddock/testing/demand-rows';
import { failWorker } from './provisioning.ts';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { APP_ID } from '../scenes/settings.scene.ts';
import { taskFor } from '../scenes/stalled-run.scene.ts';
import { putSecret, startPod } from './start-pod.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

const JIT = '/generate-jitconfig$';

describe('provisioning', () => {
  test('asks GitHub once and the cluster five times when all goes well, a token apart (P4)', async () => {
    const calls = async (): Promise<Record<string, number>> => ({
      ...(await world.gitHub.report()).calls,
      ...world.kube.report().calls,
    });
    await world.queueJob();
    await world.settle();
    const before = await calls();
    await world.queueJob();
    await world.settle();
    const made = Object.entries(await calls()).flatMap(([call, count]) =>
      count === before[call] ? [] : [[call, count - (before[call] ?? 0)]],
    );
    expect(Object.fromEntries(made)).toEqual({
      'actions/generate-runner-jitconfig-for-org': 1,
      'get pods': 1,
      'get secrets': 1,
      'create secrets': 1,
      'create pods': 1,
      'patch secrets': 1,
    });
  });

  test('a runner of that name at GitHub ends the row, not the registration (C6)', async () => {
    await world.queueJob();
    await world.gitHub.failNext({ path: JIT, status: 409 });
    const notStarted =
      'paddock_workers_ended_total{pool="linux",status="failed",reason="registration_interrupted"}';
    expect(await world.growth(notStarted, () => world.settle())).toBe(1);
    expect(await seen.failures()).toEqual(['registration_interrupted']);
    await seen.expectOneWorker();
  });

  test('a run that wakes up with a JIT config after its successor has ended the row makes no pod, and takes its Secret back (C6)', async () => {
    await world.queueJob();
    await world.match();
    const [row] = await world.workers();
    const worker = await findWorkerToProvision(world.db, row?.pod_name ?? '', [APP_ID]);
    const [pool] = examplePools().pools;
    if (worker === undefined || pool === undefined) throw new Error('there is no worker');
    await failWorker(world.parts, worker, {
      reason: 'registration_interrupted',
      message: 'by its successor',
    });
    const run = { task: taskFor(worker.podName, () => 1), signal: new AbortController().signal };
    await putSecret(world.parts, worker, 'a JIT config', run);
    const stalled = { ...run, task: taskFor(worker.podName, () => 0.3) };
    await expect(startPod(world.parts, worker, pool, stalled)).rejects.toThrow(
      'Only 30 % of the claim',
    );
    expect(seen.secrets()).toEqual([`runners/${worker.podName}`]);
    expect(await startPod(world.parts, worker, pool, run)).toMatchObject({
      outcome: 'done',
    });
    expect(seen.pods()).toEqual([]);
    expect(seen.secrets()).toEqual([]);
    expect(await saveRegistration(world.db, worker.podName, { runnerId: 1, labels: [] })).toBe(
      false,
    );
  });

  test('a row that is wanted no more ends before anybody asks GitHub (C3)', async () => {
    const jobId = await world.queueJob();
    await world.match();
    await world.db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('job_id', '=', jobId)
      .execute();
    await world.settle();
    expect(await seen.failures()).toEqual(['unwanted']);
    expect(await seen.runners()).toEqual([]);
    expect(await seen.tasks()).toEqual([]);
  });

  test('a pool that goes before its worker is registered ends the worker, and says why the job waits (P5)', async () => {
    await world.queueJob();
    await world.match();
    await world.putPools(examplePools({ pools: [{ name: 'other' }] }));
    await world.runTasks();
    await world.match();
    expect(await seen.failures()).toEqual(['pool_unknown']);
    expect(await world.db.selectFrom('demand_keys').select('wait_reason').execute()).toEqual([
      { wait_reason: 'pool_unknown' },
    ]);
  });

  test('a worker whose task is gone is provisioned again, unless it is to be stopped; taken back into supply, it is (C3, P1)', async () => {
    await world.queueJob();
    await world.match();
    await world.db.deleteFrom('tasks').execute();
    expect(await reprovisionForgotten(world.db, 60_000)).toEqual([]);
    expect(await reprovisionForgotten(world.db, 0)).toHaveLength(1);
    expect(await reprovisionForgotten(world.db, 0)).toEqual([]);

    await world.db.deleteFrom('tasks').execute();
    await world.db
      .updateTable('workers')
      .set({ stopping_at: new Date(), stop_reason: 'surplus' })
      .execute();
    expect(await reprovisionForgotten(world.db, 0)).toEqual([]);
    await world.match();
    await world.settle();
    await seen.expectOneWorker();
  });

  test('many workers at once, on two executors, make one pod each (C5, C6)', async () => {
    for (let n = 0; n < 20; n += 1) await world.queueJob();
    await Promise.all([world.match(), world.match()]);
    await Promise.all([world.runTasks('one'), world.runTasks('two')]);
    // On a busy machine a call may have got no answer in time: its worker, or the one in its place,
    // is made now.
    await world.settle();
    const live = (await seen.alive()).map((worker) => worker.pod_name);
    expect(live).toHaveLength(20);
    expect(seen.pods().toSorted()).toEqual(live.toSorted());
    expect((await seen.runners()).filter((name) => live.includes(name))).toHaveLength(20);
  });
});

const scopes = async () =>
  (await world.gitHub.truth()).runners
    .map(({ scope }) => scope)
    .toSorted((a, b) => a.localeCompare(b));

describe('where a runner registers', () => {
  test('each repository of a user gets a separate runner (C2)', async () => {
    const sam = await world.addUser('sam', ['one', 'two']);
    await world.queueJobOf(sam, 'one');
    await world.queueJobOf(sam, 'two');
    await world.settle();
    expect((await scopes()).filter((scope) => scope.startsWith('sam/'))).toEqual([
      'sam/one',
      'sam/two',
    ]);
    expect((await world.workers()).map((worker) => worker.repo_full_name)).toEqual(
      expect.arrayContaining(['sam/one', 'sam/two']),
    );
  });

  test('a pool can register at repositories of an organisation; the name is found although the job’s row is gone (A12, C2)', async () => {
    await world.putPools(examplePools({ pools: [{ registration: 'repository' }] }));
    const jobId = await world.queueJob({ row: { scope_repo_id: world.apiRepositoryId } });
    await world.match();
    await world.db.deleteFrom('jobs').where('job_id', '=', jobId).execute();
    await world.db.updateTable('workers').set({ registration_started_at: null }).execute();
    await world.runTasks();
    expect(await scopes()).toContain('acme/api');
  });

  test('a runner group is made once, and read anew only where runners get no job (C7, C11, P4)', async () => {
    await world.putPools(examplePools({ pools: [{ runnerGroup: 'Paddock' }] }));
    const groupCalls = async () =>
      Object.entries((await world.gitHub.report()).calls).flatMap(([name, count]) =>
        name.includes('runner-group') ? [count] : [],
      );
    const makeNext = async () => {
      await world.queueJob();
      await world.settle();
    };
    await makeNext();
    await makeNext();
    expect(await groupCalls()).toEqual([1, 1]);
    const [first] = await world.workers();
    const failure = { failureClass: 'not_assigned', message: 'no job came' };
    await noteKeyFailure(
      world.db,
      { podName: first?.pod_name ?? '', ...failure },
      world.parts.failureRules,
    );
    await makeNext();
    expect(await groupCalls()).toEqual([2, 1]);
    expect((await world.workers()).every((worker) => worker.registered_at !== null)).toBe(true);
  });
});
