import { describe, expect, test } from '@jest/globals';
import { findRunnerGroupAccess } from '@paddock/github/runner-groups';
import { examplePools } from '@paddock/testing/demand-rows';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { APP_ID } from '../scenes/settings.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const scopes = async () =>
  (await world.gitHub.truth()).runners
    .map(({ scope }) => scope)
    .toSorted((a, b) => a.localeCompare(b));

const kimsScopes = async () => (await scopes()).filter((scope) => scope.startsWith('kim/'));

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

  test('the first worker that the entity’s cap allows again is for the repository that has none (C4, P1)', async () => {
    await world.putPools(examplePools({ entities: { '*': { maxWorkers: 2 } } }));
    const kim = await world.addUser('kim', ['busy', 'quiet']);
    for (let n = 0; n < 6; n += 1) await world.queueJobOf(kim, 'busy');
    await world.settle();
    expect(await kimsScopes()).toEqual(['kim/busy', 'kim/busy']);

    await world.queueJobOf(kim, 'quiet');
    await world.settle();
    const states = await world.db
      .selectFrom('demand_keys')
      .select(['waiting', 'wait_reason'])
      .orderBy('waiting')
      .execute();
    expect(states).toEqual([
      { waiting: 1, wait_reason: 'at_entity_cap' },
      { waiting: 6, wait_reason: 'at_entity_cap' },
    ]);

    // The first worker to end makes room: for the repository that has none, although older jobs
    // wait in the other.
    const [first] = await world.workers();
    await world.db
      .updateTable('workers')
      .set({ status: 'completed', completed_at: new Date() })
      .where('pod_name', '=', first?.pod_name ?? '')
      .execute();
    await world.settle();
    expect(await kimsScopes()).toEqual(['kim/busy', 'kim/busy', 'kim/quiet']);
    expect((await world.workers()).filter(({ status }) => status === 'pending')).toHaveLength(2);
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

  test.each([
    [{}, 'all', false],
    [{ publicRepositories: true }, 'all', true],
    [{ runnerGroupVisibility: 'selected' }, 'selected', false],
    [{ runnerGroupVisibility: 'private' }, 'private', false],
  ] as const)(
    'a runner group that is made for a pool with %j: %s, public repositories %s (C7)',
    async (more, visibility, isPublic) => {
      const runnerGroup = `Made for ${JSON.stringify(more)}`;
      await world.putPools(examplePools({ pools: [{ runnerGroup, ...more }] }));
      await world.queueJob();
      await world.settle();
      const client = world.github.asInstallation({
        appId: APP_ID,
        installationId: world.installationId,
        entityId: 0,
      });
      const made = { visibility, allowsPublicRepositories: isPublic };
      expect(await findRunnerGroupAccess(client, 'acme', runnerGroup)).toMatchObject(made);
    },
  );
});
