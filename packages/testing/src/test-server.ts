import { migrate } from '@paddock/db/migrate';
import { findServer } from './find-server.ts';
import { admitLogins, createLogins, dropLogins, type ServiceLogins } from './service-logins.ts';
import {
  dropDatabase,
  uniqueDatabaseName,
  urlOfDatabase,
  withConnection,
} from './server-connection.ts';
import { TEST_SCHEMA } from './test-schema.ts';

export interface TestServer {
  /** Where databases are created. */
  readonly url: string;
  /** The name of the migrated database that the test files clone. */
  readonly template: string;
  readonly logins: ServiceLogins;
  readonly stop: () => Promise<void>;
}

/**
 * Finds or starts the PostgreSQL server of a test run, migrates one template database on it, and
 * makes a login for each service. stop() drops template and logins, and ends the server if this
 * function started it.
 */
export async function startTestServer(env: NodeJS.ProcessEnv): Promise<TestServer> {
  const server = await findServer(env['TEST_DATABASE_URL'], (message) =>
    process.stderr.write(`${message}\n`),
  );
  const template = uniqueDatabaseName('paddock_template');
  let logins: ServiceLogins | undefined;
  const stop = async (): Promise<void> => {
    try {
      await dropDatabase(server.url, template);
      if (logins !== undefined) await dropLogins(server.url, logins);
    } finally {
      await server.stop();
    }
  };
  try {
    await withConnection(server.url, (client) => client.query(`create database ${template}`));
    await migrate({ url: urlOfDatabase(server.url, template), schema: TEST_SCHEMA });
    logins = await createLogins(server.url);
    await admitLogins(server.url, logins, TEST_SCHEMA);
    // A database with an open session cannot be cloned, so one developer's session would fail every
    // test file.
    await withConnection(server.url, (client) =>
      client.query(`alter database ${template} with allow_connections false`),
    );
    return { url: server.url, template, logins, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
