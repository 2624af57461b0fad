import { afterAll, beforeAll } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { late } from './late.ts';

/** One database for the tests of a file, or of a `describe`. */
export function useTestDatabase(
  create: () => Promise<TestDatabase> = createTestDatabase,
): TestDatabase {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await create();
  });
  afterAll(() => database.drop());
  return late(() => database);
}
