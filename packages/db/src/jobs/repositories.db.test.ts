import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { putJob } from '@paddock/testing/demand-rows';
import { noteActiveRepositories } from './repositories.ts';

/** By this machine's clock, which is the database's. */
const before = (minutes: number) => new Date(Date.now() - minutes * 60_000);

let testDb: TestDatabase;
beforeAll(async () => {
  testDb = await createTestDatabase();
});
afterAll(() => testDb.drop());

test('an old job that is heard of now gives a repository no name or owner of before (E2)', async () => {
  const { db } = testDb;
  const note = () => noteActiveRepositories(db, { activeMs: 86_400_000, everyMs: 300_000 });
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
