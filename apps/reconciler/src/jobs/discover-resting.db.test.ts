import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';

const scene = useDiscoveryScene(useTestDatabase());

const REST = 360;
/** Repositories are not listed again, so that a push brings none forward. */
const listNoMore = () =>
  scene.db
    .updateTable('installations')
    .set({ listed_at: new Date(Date.now() + 86_400_000) })
    .execute();
const remaining = () =>
  scene.github.budgetOf(scene.world.organization.installationId)?.remaining ?? NaN;
const addRepositories = async (count: number) => {
  for (let index = 0; index < count; index++)
    await scene.world.github.addRepository({ owner: 'acme', name: `part-${index}` });
};

describe('repositories that no delivery has named (E2, P1)', () => {
  test('the only job of one, from a schedule, is found within six hours', async () => {
    await scene.discover();
    const job = await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(REST - 1);
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(1);
    expect(await scene.discover()).toMatchObject({ resting: 3, found: 1 });
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: true });
  });

  test('none loses its turn by an outage of GitHub: they are looked at five minutes later', async () => {
    await scene.discover();
    const job = await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(REST);
    await scene.world.github.failNext({ path: '', status: 502, times: 100 });
    expect(await scene.discover()).toMatchObject({ unanswered: 3, found: 0 });
    await scene.world.github.clearFaults();
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ resting: 3, found: 1 });
    expect(await scene.row(job)).toMatchObject({ wants_worker: true });
  });

  test('one that is made meanwhile is looked at once it is listed', async () => {
    await scene.discover();
    await scene.world.github.addRepository({ owner: 'acme', name: 'young' });
    const job = await scene.queue('acme/young', { event: 'schedule' });
    const longAgo = { listed_at: new Date(Date.now() - 7 * 3_600_000), updated_at: new Date(0) };
    await scene.db.updateTable('installations').set(longAgo).execute();
    expect(await scene.discover()).toMatchObject({ listed: 2, resting: 1, found: 1 });
    expect(await scene.jobIds()).toEqual([job]);
  });

  test('all have their turn, a bounded number in a pass, the least recently read first', async () => {
    await addRepositories(4);
    expect(await scene.discover({ most: 3 })).toMatchObject({ resting: 3 });
    expect(await scene.discover({ most: 3 })).toMatchObject({ resting: 3 });
    expect(await scene.discover({ most: 3 })).toMatchObject({ resting: 1 });
    expect(await scene.discover({ most: 3 })).toMatchObject({ resting: 0 });
    const first = async () => {
      const rows = await scene.db
        .selectFrom('repositories')
        .select('repo_id')
        .orderBy('looked_at')
        .limit(3)
        .execute();
      return new Set(rows.map((row) => row.repo_id));
    };
    const longestAgo = await first();
    await scene.passMinutes(REST);
    await scene.discover({ most: 3 });
    expect([...(await first())].filter((id) => longestAgo.has(id))).toEqual([]);
  });

  test('one with a run is active from then on', async () => {
    await scene.discover();
    await listNoMore();
    await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(REST);
    await scene.discover();
    await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ repositories: 1, resting: 0, found: 1 });
  });

  test('an inactive one is due at once when a delivery announces a job in it', async () => {
    await scene.discover();
    await listNoMore();
    await scene.addJob({
      job: { repo: 'acme/site', event: 'schedule' },
      row: { created_at: new Date(Date.now() - 300_000) },
    });
    expect(await scene.discover()).toMatchObject({ repositories: 1, resting: 0 });
  });

  test('archived ones are left out, and so are those that the installation no longer shows', async () => {
    await scene.world.github.addRepository({ owner: 'acme', name: 'of-old', archived: true });
    expect(await scene.discover()).toMatchObject({ resting: 3 });
    await scene.world.github.selectRepositories(scene.world.organization.installationId, [
      'acme/api',
    ]);
    await scene.db.updateTable('installations').set({ updated_at: new Date() }).execute();
    await scene.passMinutes(REST);
    expect(await scene.discover()).toMatchObject({ listed: 2, resting: 2, unanswered: 0 });
  });
});

describe('their cost (E2, P4)', () => {
  test('none of the budget, as long as nothing changes', async () => {
    await addRepositories(5);
    await scene.discover();
    const before = remaining();
    await scene.passMinutes(REST);
    expect(await scene.discover()).toMatchObject({ resting: 8, unchanged: 40 });
    expect(remaining()).toBe(before);
  });

  test('half of a pass’s share at most, and active ones do not take that half from them', async () => {
    await addRepositories(2);
    for (let index = 0; index < 30; index++) await scene.queue('acme/api');
    const caller = { installationId: scene.world.organization.installationId };
    const allowTwenty = () =>
      scene.world.github.setRateLimit({ caller, resource: 'core', limit: 5000, remaining: 1000 });
    await allowTwenty();
    // The repositories, nine lists of those that rest, and then five lists and five runs of the
    // active one.
    expect(await scene.discover({ budgetPercent: 2 })).toMatchObject({
      resting: 4,
      incomplete: 3,
      found: 5,
    });
    await allowTwenty();
    await scene.passMinutes(6);
    // Six lists that were left out, and fourteen runs: unchanged answers cost nothing.
    expect(await scene.discover({ budgetPercent: 2 })).toMatchObject({
      resting: 2,
      incomplete: 1,
      found: 14,
    });
  });
});
