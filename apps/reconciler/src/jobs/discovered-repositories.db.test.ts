import { describe, expect, test } from '@jest/globals';
import { putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { valuesOf } from '@paddock/runtime/rules';
import { reconcilerRules } from '../rules.ts';
import { useDiscoveryScene } from '../scenes/jobs.scene.ts';

const scene = useDiscoveryScene(useTestDatabase());

const { discoverBudgetPercent, readsOfMinute } = valuesOf(reconcilerRules);
const JOBS_OF_RUN = 'actions/list-jobs-for-workflow-run';

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const looked = async () => {
  const all = await scene.db.selectFrom('repositories').select('looked_at').execute();
  return all.filter(({ looked_at: at }) => at !== null).length;
};

describe('which repositories are looked at (E2)', () => {
  test('those for which a delivery showed a run in the last 24 hours, each once in five minutes', async () => {
    await scene.setInstallation({ listed_at: new Date(Date.now() + 60_000) });
    await scene.addJob({ row: { created_at: hoursAgo(23) } });
    await scene.addJob({ job: { repo: 'mona/tool' }, row: { created_at: hoursAgo(25) } });
    expect(await scene.discover()).toMatchObject({ listed: 0, repositories: 1 });
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(4);
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(1);
    expect(await scene.discover()).toMatchObject({ repositories: 1 });
  });

  test('not yet one whose deliveries have just begun to come: discovery polls none while they do (P4)', async () => {
    await scene.setInstallation({ listed_at: new Date(Date.now() + 60_000) });
    await scene.addJob({ row: { created_at: new Date() } });
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ repositories: 1 });
  });

  test('at once those of an installation that was unsuspended or given repositories', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    await scene.queue('acme/api');
    await scene.setInstallation({ updated_at: new Date() }, 'acme');
    await scene.db.updateTable('repositories').set({ etags: '{}' }).execute();
    expect(await scene.discover()).toMatchObject({ listed: 1, repositories: 1, found: 1 });
    expect(await scene.discover()).toMatchObject({ listed: 0, repositories: 0 });
  });

  test('one that GitHub hid is read at once after such news, also without a push (P1)', async () => {
    await scene.queue('mona/tool', { event: 'schedule' });
    await scene.discover();
    const hidden = { unanswered_since: new Date(0), due_at: new Date(Date.now() + 3_600_000) };
    await scene.db.updateTable('repositories').set(hidden).execute();
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.setInstallation({ updated_at: new Date() }, 'mona');
    expect(await scene.discover()).toMatchObject({ repositories: 1 });
  });

  test('none of an installation that is suspended or gone, or of an App that is not configured', async () => {
    await scene.queue('acme/api');
    await scene.queue('mona/tool');
    expect(await scene.discover({ appIds: [] })).toMatchObject({ listed: 0, repositories: 0 });
    await scene.setInstallation({ suspended_at: new Date() }, 'acme');
    await scene.setInstallation({ deleted_at: new Date() }, 'mona');
    expect(await scene.discover()).toMatchObject({ listed: 0, repositories: 0, unanswered: 0 });
  });

  test('of each entity at most a bounded number in a pass, the least recently read first', async () => {
    await scene.queue('acme/api');
    await scene.queue('acme/site');
    await scene.queue('mona/tool');
    const one = { config: { readsOfMinute: 1 } };
    expect(await scene.discover(one)).toMatchObject({ repositories: 2 });
    await scene.passMinutes(1);
    expect(await scene.discover(one)).toMatchObject({ repositories: 1 });
    expect(await looked()).toBe(3);
    await scene.passMinutes(10);
    await scene.discover(one);
    const { id } = scene.world.organization;
    const ofAcme = scene.db.selectFrom('repositories').where('entity_id', '=', id).selectAll();
    const lastRead = await ofAcme.orderBy('looked_at', 'desc').executeTakeFirst();
    expect(lastRead).toMatchObject({ full_name: 'acme/api' });
  });
});

describe('the cost of discovery (E2, P4)', () => {
  test('unchanged lists of runs and of jobs are asked for with their ETags, and cost none of the budget', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    const [before, jobsCalls] = [scene.remaining(), await scene.calls(JOBS_OF_RUN)];
    await scene.passMinutes(6);
    const same = { repositories: 3, unchanged: 7, runs: 1, jobs: 0 };
    expect(await scene.discover()).toMatchObject(same);
    expect(await scene.calls(JOBS_OF_RUN)).toBe(jobsCalls + 1);
    expect(scene.remaining()).toBe(before);
    await scene.queue('acme/api');
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ unchanged: 6, runs: 2, jobs: 1, found: 1 });
  });

  test('other pools have jobs read again that have not changed (B4)', async () => {
    const job = await scene.queue('acme/api', { labels: ['windows'] });
    await scene.discover();
    await putPools(scene.db, { pools: [{ labels: ['windows'] }] });
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ unchanged: 7, jobs: 1, found: 1 });
    expect(await scene.jobIds()).toEqual([job]);
  });

  test('a pass uses its share of the rest of an installation’s budget; it keeps its findings, and the rest has its turn later', async () => {
    for (let index = 0; index < 10; index++) await scene.queue('acme/api');
    await scene.queue('mona/tool');
    await scene.allowCalls(100);
    // Ten calls: the repositories, five lists, and four of the runs. Mona's entity has another
    // budget, and the resting one a share of its own.
    expect(await scene.discover()).toMatchObject({ repositories: 3, incomplete: 1, found: 5 });
    await scene.allowCalls(60);
    await scene.passMinutes(6);
    // Six calls: unchanged lists cost nothing.
    expect(await scene.discover()).toMatchObject({ repositories: 3, incomplete: 1, found: 6 });
    await scene.allowCalls(5000);
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ incomplete: 0, found: 0 });
    expect(await scene.jobIds()).toHaveLength(11);
  });
});

describe('repositories that no delivery has named (E2, P1)', () => {
  test('the only job of one, from a schedule, is found within five minutes', async () => {
    await scene.discover();
    const job = await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(4);
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(1);
    expect(await scene.discover()).toMatchObject({ resting: 3, found: 1 });
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: true });
  });

  test('one that is made meanwhile is looked at once it is listed, every six hours, and so are those that were pushed to', async () => {
    await scene.discover();
    await scene.queue('acme/site');
    await scene.world.github.addRepository({ owner: 'acme', name: 'young' });
    const job = await scene.queue('acme/young', { event: 'schedule' });
    expect(await scene.discover()).toMatchObject({ listed: 0, found: 0 });
    await scene.setInstallation({ listed_at: hoursAgo(7), updated_at: new Date(0) });
    // The one with a push is active; it is public, and no pool takes its job.
    const counts = { listed: 2, repositories: 2, resting: 1, found: 1 };
    expect(await scene.discover()).toMatchObject(counts);
    expect(await scene.jobIds()).toEqual([job]);
  });

  test('archived ones are left out, and so are those that the installation no longer shows', async () => {
    await scene.world.github.addRepository({ owner: 'acme', name: 'of-old', archived: true });
    expect(await scene.discover()).toMatchObject({ resting: 3 });
    const { installationId } = scene.world.organization;
    await scene.world.github.selectRepositories(installationId, ['acme/api']);
    await scene.setInstallation({ updated_at: new Date() });
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ listed: 2, resting: 2, unanswered: 0 });
  });
});

test('repositories that no delivery has named cost half of what active ones may use, and active ones do not take that from them (E2, P4)', async () => {
  for (let nth = 0; nth < 12; nth++)
    await scene.world.github.addRepository({ owner: 'acme', name: `part-${nth}` });
  for (let index = 0; index < 30; index++) await scene.queue('acme/api');
  await scene.allowCalls(1_000);
  // The list of repositories, five lists and fourteen runs of the active one; ten of those that
  // rest, and mona's.
  const config = { discoverBudgetPercent };
  const first = { resting: 11, incomplete: 1, found: 14 };
  expect(await scene.discover({ config })).toMatchObject(first);
  await scene.allowCalls(1_000);
  await scene.passMinutes(6);
  // The other three, and the other runs: unchanged answers cost nothing.
  const second = { resting: 14, incomplete: 0, found: 16 };
  expect(await scene.discover({ config })).toMatchObject(second);
});

const LIST = 'actions/list-workflow-runs-for-repo';
/** GitHub's calls an hour for an installation, by its number of repositories. */
const limitOf = (repositories: number) =>
  Math.min(5_000 + 50 * Math.max(0, repositories - 20), 12_500);

/** A minute's pass over acme's repositories, with the settings in force. */
const pass = async () => {
  const config = { readsOfMinute, discoverBudgetPercent };
  const counts = await scene.discover({ config, pass: { atOnce: 8 } });
  await scene.passMinutes(1);
  return counts;
};

async function putRepositories(count: number): Promise<void> {
  const { world } = scene;
  for (let n = 0; n < count; n++)
    await world.github.addRepository({ owner: 'acme', name: `part-${n}` });
  await scene.allowCalls(limitOf(count), limitOf(count));
  await scene.discover({ config: { readsOfMinute: 0 } });
  await scene.setInstallation({ listed_at: new Date(Date.now() + 86_400_000) });
}

test('a round over all 100 repositories of an installation takes five minutes, with one call for each, which is free while nothing changes (E2, P4)', async () => {
  await putRepositories(100);
  await pass();
  for (let minute = 1; minute < 5; minute++) await pass();
  expect(await looked()).toBe(103);
  const [before, calls] = [scene.remaining(), await scene.calls(LIST)];
  for (let minute = 0; minute < 5; minute++) await pass();
  expect((await scene.calls(LIST)) - calls).toBe(103);
  expect(scene.remaining()).toBe(before);
  // No delivery announced this job.
  const lost = await scene.queue('acme/part-42', { event: 'schedule' });
  for (let minute = 0; minute < 5; minute++) await pass();
  expect(await scene.jobIds()).toEqual([lost]);
}, 300_000);
