import { connectDatabase } from '@paddock/db/connection/connect';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { dropDatabase, uniqueDatabaseName, urlOfDatabase, withConnection } from './server-connection.ts';
import { TEST_SCHEMA } from './test-schema.ts';

/** A database of its own for one test file. */
export interface EmptyDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** A migrated one, with a pool on it that drop() closes. */
export interface TestDatabase extends EmptyDatabase {
  readonly schema: string;
  readonly db: Kysely<Database>;
}

const POOL_SIZE = 10;

/** A clone of the migrated template. Call drop() after the tests: connections to it that are still open are cut. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(fromSetup('PADDOCK_TEST_TEMPLATE'));
  const { db, close } = connectDatabase({ url, schema: TEST_SCHEMA, poolSize: POOL_SIZE, applicationName: 'paddock-test' });
  return {
    url,
    schema: TEST_SCHEMA,
    db,
    drop: async () => {
      await close();
      await drop();
    },
  };
}

/** A database without anything of ours, for the tests of the migrations. */
export async function createEmptyDatabase(): Promise<EmptyDatabase> {
  return createDatabase('template0');
}

async function createDatabase(template: string): Promise<EmptyDatabase> {
  const server = fromSetup('PADDOCK_TEST_SERVER_URL');
  const name = uniqueDatabaseName('paddock_test');
  await withConnection(server, (client) => client.query(`create database ${name} template ${template}`));
  return { url: urlOfDatabase(server, name), drop: () => dropDatabase(server, name) };
}

function fromSetup(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(`${name} is not set, so there is no database to test on. Name the file *.db.test.ts and run it with \`pnpm jest\`.`);
}
