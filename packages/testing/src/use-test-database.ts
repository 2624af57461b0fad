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

/** Deletes all rows but the one of the environment itself. */
export const emptyAll = (db: Db) =>
  sql`do $$ declare own text; begin
    for own in select tablename from pg_tables where schemaname = current_schema() and tablename not in ('instance', 'schema_migration')
    loop execute format('delete from %I', own); end loop; end $$`.execute(db);

/** Deletes all rows of these tables. */
export async function emptyTables(db: Db, tables: readonly (keyof Database)[]): Promise<void> {
  const deletes = tables.map(
    (table, n) => sql`${sql.raw(`t${n}`)} as (delete from ${sql.table(table)})`,
  );
  await sql`with ${sql.join(deletes)} select`.execute(db);
}
