import { afterEach, expect, test } from '@jest/globals';
import { putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const scene = useStopScene(world);
afterEach(async () => {
  world.kube.clearFaults();
  await scene.cancelAll();
});

const WORKERS = 3;
const RUNS = 5;

/** Workers whose jobs were cancelled before their runners came. */
async function idleWorkers(): Promise<string[]> {
  for (let n = 0; n < WORKERS; n += 1) await world.gitHub.cancelJob(await world.queueJob());
  await world.match();
  await world.runTasks();
  const names = (await world.workers()).map((worker) => worker.pod_name);
  await waitFor('the runners to wait for jobs', async () =>
    (await Promise.all(names.map((name) => scene.runner(name)))).every(
      (runner) => runner?.state === 'idle',
    ),
  );
  await scene.follow();
  await world.db.deleteFrom('jobs').execute();
  return names;
}

/** Jobs of as many runs that our runners may not take, although we believe so. */
async function letRunsWait(): Promise<void> {
  for (let n = 0; n < RUNS; n += 1) {
    const { id: job_id, runId: run_id } = await world.gitHub.queueJob({
      repo: 'acme/api',
      labels: ['linux'],
      hosted: true,
      durationMs: 600_000,
    });
    await putJob(world.db, {
      job_id,
      run_id,
      entity_id: world.entityId,
      repo_id: world.apiRepositoryId,
      repo_full_name: 'acme/api',
    });
  }
}

const lookedAt = async () =>
  (await world.gitHub.report()).calls['actions/list-jobs-for-workflow-run'] ?? 0;

async function attempt(minutes: number, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    await world.runTasks();
    await scene.letTimePass(minutes);
  }
}

test('where logs can be read, no run is looked at (P4, E5)', async () => {
  const names = await idleWorkers();
  await letRunsWait();
  const before = await lookedAt();
  for (const name of names) await scene.askToStop(name, 'not_assigned');
  await attempt(1, 2);
  for (const name of names) expect(await scene.runner(name)).toBeUndefined();
  await attempt(1, 2);
  expect(await lookedAt()).toBe(before);
});

test('stops at a time whose logs cannot be read share their looks at the runs that wait: one before the deregistrations, one after them (P4, E5)', async () => {
  const names = await idleWorkers();
  await letRunsWait();
  world.kube.failNext({ path: '/log$', status: 500, times: 1_000 });
  const before = await lookedAt();
  for (const name of names) await scene.askToStop(name, 'not_assigned');
  await attempt(11, 3);
  expect(await lookedAt()).toBe(before + RUNS);
  for (const name of names) expect(await scene.runner(name)).toBeUndefined();

  await attempt(1, 3);
  expect(await lookedAt()).toBeLessThanOrEqual(before + 2 * RUNS);
});
