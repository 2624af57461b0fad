import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';

const scene = useDiscoveryScene(useTestDatabase());

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
  test('the only job of one, from a schedule, is found within five minutes', async () => {
    await scene.discover();
    const job = await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(4);
    expect(await scene.discover()).toMatchObject({ repositories: 0 });
    await scene.passMinutes(1);
    expect(await scene.discover()).toMatchObject({ resting: 3, found: 1 });
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: true });
  });

  test('none loses its turn by an outage of GitHub: they are looked at once it is back', async () => {
    await scene.discover();
    const job = await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(5);
    await scene.world.github.failNext({ path: '', status: 502, times: 100 });
    expect(await scene.discover()).toMatchObject({ unanswered: 1, found: 0 });
    await scene.world.github.clearFaults();
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
    await addRepositories(5);
    // Of acme three in a pass, and the only one of mona.
    for (const resting of [4, 3, 1, 0])
      expect(await scene.discover({ most: 3 })).toMatchObject({ resting });
    const first = async () => {
      const rows = await scene.db
        .selectFrom('repositories')
        .select('repo_id')
        .where('entity_id', '=', scene.world.organization.id)
        .orderBy('looked_at')
        .limit(3)
        .execute();
      return new Set(rows.map((row) => row.repo_id));
    };
    const longestAgo = await first();
    await scene.passMinutes(5);
    await scene.discover({ most: 3 });
    expect([...(await first())].filter((id) => longestAgo.has(id))).toEqual([]);
  });

  test('one with a run is active from then on', async () => {
    await scene.discover();
    await listNoMore();
    await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(5);
    await scene.discover();
    await scene.queue('mona/tool', { event: 'schedule' });
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ repositories: 3, resting: 2, found: 1 });
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
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ listed: 2, resting: 2, unanswered: 0 });
  });
});

describe('their cost (E2, P4)', () => {
  test('none of the budget, as long as nothing changes', async () => {
    await addRepositories(5);
    await scene.discover();
    const before = remaining();
    await scene.passMinutes(5);
    expect(await scene.discover()).toMatchObject({ resting: 8, unchanged: 8 });
    expect(remaining()).toBe(before);
  });

  test('half of what active ones may use, and active ones do not take that from them', async () => {
    await addRepositories(12);
    for (let index = 0; index < 30; index++) await scene.queue('acme/api');
    const caller = { installationId: scene.world.organization.installationId };
    const allowTwenty = () =>
      scene.world.github.setRateLimit({ caller, resource: 'core', limit: 5000, remaining: 1000 });
    await allowTwenty();
    // The list of repositories, five lists and fourteen runs of the active one; ten of those that
    // rest, and mona's.
    expect(await scene.discover({ budgetPercent: 2 })).toMatchObject({
      resting: 11,
      incomplete: 1,
      found: 14,
    });
    await allowTwenty();
    await scene.passMinutes(6);
    // The other three, and the other runs: unchanged answers cost nothing.
    expect(await scene.discover({ budgetPercent: 2 })).toMatchObject({
      resting: 14,
      incomplete: 0,
      found: 16,
    });
  });
});
