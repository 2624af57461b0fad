import { afterAll, beforeAll } from '@jest/globals';
import type { Database, Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
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

/** Deletes all rows of these tables at once, so that no reference between them is in the way. */
export async function emptyTables(db: Db, tables: readonly (keyof Database)[]): Promise<void> {
  const deletes = tables.map(
    (table, n) => sql`${sql.raw(`t${n}`)} as (delete from ${sql.table(table)})`,
  );
  await sql`with ${sql.join(deletes)} select`.execute(db);
}
