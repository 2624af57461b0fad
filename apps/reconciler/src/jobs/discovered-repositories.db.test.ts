import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { describe, expect, test } from '@jest/globals';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';

const scene = useDiscoveryScene(useTestDatabase());

const JOBS_OF_RUN = 'actions/list-jobs-for-workflow-run';

const looked = async () =>
  (
    await scene.db
      .selectFrom('repositories')
      .select('repo_id')
      .where('looked_at', 'is not', null)
      .execute()
  ).length;

describe('which repositories are looked at (E2)', () => {
  test('those for which a delivery showed a run in the last 24 hours, each once in five minutes', async () => {
    await scene.db
      .updateTable('installations')
      .set({ listed_at: new Date(Date.now() + 60_000) })
      .execute();
    await scene.addJob({ row: { created_at: new Date(Date.now() - 23 * 3_600_000) } });
    await scene.addJob({
      job: { repo: 'mona/tool' },
      row: { created_at: new Date(Date.now() - 25 * 3_600_000) },
    });
    expect(await scene.discover()).toMatchObject({ listed: 0, repositories: 1 });
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(4);
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(1);
    expect(await scene.discover()).toMatchObject({ repositories: 1 });
  });

  test('not yet one whose deliveries have just begun to come: discovery polls none while they do (P4)', async () => {
    await scene.db
      .updateTable('installations')
      .set({ listed_at: new Date(Date.now() + 60_000) })
      .execute();
    await scene.addJob({ row: { created_at: new Date() } });
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ repositories: 1 });
  });

  test('every six hours those that were pushed to as well', async () => {
    await scene.discover();
    await scene.queue('acme/site');
    expect(await scene.discover()).toMatchObject({ listed: 0, found: 0 });
    await scene.db
      .updateTable('installations')
      .set({ listed_at: new Date(Date.now() - 7 * 3_600_000), updated_at: new Date(0) })
      .execute();
    expect(await scene.discover()).toMatchObject({ listed: 2, repositories: 1 });
  });

  test('at once those of an installation that was unsuspended or given repositories', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    await scene.queue('acme/api');
    await scene.db
      .updateTable('installations')
      .set({ updated_at: new Date() })
      .where('login', '=', 'acme')
      .execute();
    await scene.db.updateTable('repositories').set({ etags: '{}' }).execute();
    expect(await scene.discover()).toMatchObject({ listed: 1, repositories: 1, found: 1 });
    expect(await scene.discover()).toMatchObject({ listed: 0, repositories: 0 });
  });

  test('none of an installation that is suspended or gone, or of an App that is not configured', async () => {
    await scene.queue('acme/api');
    await scene.queue('mona/tool');
    expect(await scene.discover({ appIds: [] })).toMatchObject({ listed: 0, repositories: 0 });
    await scene.db
      .updateTable('installations')
      .set({ suspended_at: new Date() })
      .where('login', '=', 'acme')
      .execute();
    await scene.db
      .updateTable('installations')
      .set({ deleted_at: new Date() })
      .where('login', '=', 'mona')
      .execute();
    expect(await scene.discover()).toMatchObject({ listed: 0, repositories: 0, unanswered: 0 });
  });

  test('of each entity at most a bounded number in a pass, the least recently read first', async () => {
    await scene.queue('acme/api');
    await scene.queue('acme/site');
    await scene.queue('mona/tool');
    expect(await scene.discover({ most: 1 })).toMatchObject({ repositories: 2 });
    expect(await looked()).toBe(2);
    expect(await scene.discover({ most: 1 })).toMatchObject({ repositories: 1 });
    expect(await looked()).toBe(3);
  });
});

describe('the cost of discovery (E2, P4)', () => {
  test('unchanged lists of runs and of jobs are asked for with their ETags, and cost none of the budget', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    const remaining = () =>
      scene.github.budgetOf(scene.world.organization.installationId)?.remaining;
    const [before, jobsCalls] = [remaining(), await scene.calls(JOBS_OF_RUN)];
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({
      repositories: 3,
      unchanged: 7,
      runs: 1,
      jobs: 0,
    });
    expect(await scene.calls(JOBS_OF_RUN)).toBe(jobsCalls + 1);
    expect(remaining()).toBe(before);
    await scene.queue('acme/api');
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ unchanged: 6, runs: 2, jobs: 1, found: 1 });
  });

  test('other pools have jobs read again that have not changed (B4)', async () => {
    const job = await scene.queue('acme/api', { labels: ['windows'] });
    await scene.discover();
    await putPools(scene.db, examplePools({ pools: [{ labels: ['windows'] }] }));
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ unchanged: 7, jobs: 1, found: 1 });
    expect(await scene.jobIds()).toEqual([job]);
  });

  test('a pass uses its share of the rest of an installation’s budget; it keeps its findings, and the rest has its turn later', async () => {
    for (let index = 0; index < 10; index++) await scene.queue('acme/api');
    await scene.queue('mona/tool');
    const caller = { installationId: scene.world.organization.installationId };
    await scene.world.github.setRateLimit({
      caller,
      resource: 'core',
      limit: 5000,
      remaining: 100,
    });
    // Ten calls: the repositories, five lists, and four of the runs. Mona's entity has another
    // budget, and the resting one a share of its own.
    expect(await scene.discover()).toMatchObject({ repositories: 3, incomplete: 1, found: 5 });
    await scene.world.github.setRateLimit({ caller, resource: 'core', limit: 5000, remaining: 60 });
    await scene.passMinutes(6);
    // Six calls: unchanged lists cost nothing.
    expect(await scene.discover()).toMatchObject({ repositories: 3, incomplete: 1, found: 6 });
    await scene.world.github.setRateLimit({
      caller,
      resource: 'core',
      limit: 5000,
      remaining: 5000,
    });
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ incomplete: 0, found: 0 });
    expect(await scene.jobIds()).toHaveLength(11);
  });
});
