import { migrate } from '@paddock/db/migrate';
import { findServer } from './find-server.ts';
import { dropDatabase, uniqueDatabaseName, urlOfDatabase, withConnection } from './server-connection.ts';
import { TEST_SCHEMA } from './test-schema.ts';

export interface TestServer {
  /** Where databases are created. */
  readonly url: string;
  /** The name of the migrated database that the test files clone. */
  readonly template: string;
  readonly stop: () => Promise<void>;
}

/**
 * Finds or starts the PostgreSQL server of a test run and migrates one template database on it.
 * stop() drops the template and ends the server if it was started here.
 */
export async function startTestServer(env: NodeJS.ProcessEnv): Promise<TestServer> {
  const server = await findServer(env['TEST_DATABASE_URL'], (message) => process.stderr.write(`${message}\n`));
  const template = uniqueDatabaseName('paddock_template');
  const stop = async (): Promise<void> => {
    try {
      await dropDatabase(server.url, template);
    } finally {
      await server.stop();
    }
  };
  try {
    await withConnection(server.url, (client) => client.query(`create database ${template}`));
    await migrate({ url: urlOfDatabase(server.url, template), schema: TEST_SCHEMA });
    // A database with an open session cannot be cloned, and one of a curious developer would fail every test file.
    await withConnection(server.url, (client) => client.query(`alter database ${template} with allow_connections false`));
    return { url: server.url, template, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
