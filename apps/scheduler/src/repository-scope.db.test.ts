import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { type SchedulerWorld, startSchedulerWorld } from './scheduler.scene.ts';

let world: SchedulerWorld;
beforeAll(async () => {
  world = await startSchedulerWorld({ kubelet: false });
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const scopes = async () => (await world.gitHub.truth()).runners.map(({ scope }) => scope).toSorted((a, b) => a.localeCompare(b));

describe('where a runner registers', () => {
  test('each repository of a personal account gets a runner of its own (C2)', async () => {
    const sam = await world.addUser('sam', ['one', 'two']);
    await world.queueJobOf(sam, 'one');
    await world.queueJobOf(sam, 'two');
    await world.settle();
    expect((await scopes()).filter((scope) => scope.startsWith('sam/'))).toEqual(['sam/one', 'sam/two']);
    expect((await world.workers()).map((worker) => worker.repo_full_name)).toEqual(expect.arrayContaining(['sam/one', 'sam/two']));
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

  test('a repository that was renamed meanwhile is found under its old name (A12)', async () => {
    await world.putPools(examplePools({ pools: [{ registration: 'repository' }] }));
    await world.queueJob({ row: { scope_repo_id: world.apiRepositoryId } });
    await world.gitHub.renameRepository('acme/api', 'api-renamed');
    await world.settle();
    expect(await scopes()).toContain('acme/api-renamed');
    await world.gitHub.renameRepository('acme/api-renamed', 'api');
  });

  test('a runner group is made once, and its id used from then on (C7, P4)', async () => {
    await world.putPools(examplePools({ pools: [{ runnerGroup: 'Paddock' }] }));
    await world.queueJob();
    await world.settle();
    await world.queueJob();
    await world.settle();
    const { calls } = await world.gitHub.report();
    const groupCalls = Object.entries(calls).filter(([name]) => name.includes('runner-group'));
    expect(groupCalls.map(([, count]) => count)).toEqual([1, 1]);
    expect((await world.workers()).every((worker) => worker.registered_at !== null)).toBe(true);
  });
});
