import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { sql } from 'kysely';
import { connectDatabase, type DatabaseConnection } from './connect.ts';
import { isUnavailable } from './errors.ts';

describe('a pool on an environment', () => {
  let database: TestDatabase;
  let connection: DatabaseConnection;

  beforeAll(async () => {
    database = await createTestDatabase();
    connection = connectDatabase({
      url: database.url,
      schema: database.schema,
      poolSize: 2,
      applicationName: 'test',
    });
  });
  afterAll(async () => {
    await connection.close();
    await database.drop();
  });

  test('a connection that dies inside a transaction fails the transaction, and the next statement gets another one', async () => {
    const died = connection.db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
      await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.db);
      await sql`select pg_sleep(30)`.execute(trx);
    });
    expect(await died.catch(isUnavailable)).toBe(true);
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(connection.db);
    expect(rows).toEqual([{ one: 1 }]);
  });
});
