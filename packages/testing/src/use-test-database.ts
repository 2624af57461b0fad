import { afterAll, beforeAll } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from './database.ts';

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

/**
 * An object with the members of the present result of `find`. So a hook can give tests an object
 * that exists only once they run.
 */
export function late<T extends object>(find: () => T): T {
  return new Proxy({} as T, {
    get: (_nothing, name) => Reflect.get(find(), name) as unknown,
    ownKeys: () => Reflect.ownKeys(find()),
    getOwnPropertyDescriptor: (_nothing, name) => ({
      ...Reflect.getOwnPropertyDescriptor(find(), name),
      configurable: true,
    }),
  });
}
