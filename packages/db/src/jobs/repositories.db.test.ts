import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putJob } from '@paddock/testing/demand-rows';
import { noteActiveRepositories } from './repositories.ts';

/** By this machine's clock, which is the database's. */
const before = (minutes: number) => new Date(Date.now() - minutes * 60_000);

const testDb = useTestDatabase();

test('an old job that is heard of now gives a repository no name or owner of before (E2)', async () => {
  const { db } = testDb;
  const note = () =>
    noteActiveRepositories(db, { activeMs: 86_400_000, discoverRepositoryEveryMs: 300_000 });
  const known = () => db.selectFrom('repositories').select(['entity_id', 'full_name']).execute();
  await putJob(db, { entity_id: 2, repo_full_name: 'globex/api', queued_at: before(10) });
  await note();
  await putJob(db, { entity_id: 1, repo_full_name: 'acme/api', queued_at: before(60) });
  await note();
  expect(await known()).toEqual([{ entity_id: 2, full_name: 'globex/api' }]);
  await putJob(db, { entity_id: 2, repo_full_name: 'globex/renamed', queued_at: before(1) });
  await note();
  expect(await known()).toEqual([{ entity_id: 2, full_name: 'globex/renamed' }]);
});

test('the repository of a job that comes now is active, however long the job waited for its approval (E2)', async () => {
  const { db } = testDb;
  await putJob(db, { repo_id: 22, queued_at: before(30 * 60) });
  await noteActiveRepositories(db, { activeMs: 86_400_000, discoverRepositoryEveryMs: 300_000 });
  const { active_at: activeAt } = await db
    .selectFrom('repositories')
    .select('active_at')
    .where('repo_id', '=', 22)
    .executeTakeFirstOrThrow();
  expect(activeAt.getTime()).toBeGreaterThan(before(60).getTime());
});
