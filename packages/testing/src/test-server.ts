import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { admitLogins, createLogins, dropLogins, type ServiceLogins } from './service-logins.ts';
import {
  dropDatabase,
  uniqueDatabaseName,
  urlOfDatabase,
  withConnection,
} from './server-connection.ts';
import { TEST_SCHEMA } from './database.ts';

export interface TestServer {
  /** Where databases are created. */
  readonly url: string;
  /** The name of the migrated database that the test files clone. */
  readonly template: string;
  readonly logins: ServiceLogins;
  readonly stop: () => Promise<void>;
}

/**
 * Takes the PostgreSQL server of `TEST_DATABASE_URL` for a test run, or starts the embedded one, or
 * for `docker` one in a container; migrates one template database on it, and makes a login for each service. stop() drops template
 * and logins, and ends the server if this function started it.
 */
export async function startTestServer(env: NodeJS.ProcessEnv): Promise<TestServer> {
  const given = env['TEST_DATABASE_URL'] ?? '';
  const start = { '': startEmbedded, docker: startContainer }[given];
  const server = await (start === undefined ? useGivenServer(given) : start());
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

/** Enough for several test files at once, each with a few services of ten connections. */
const MAX_CONNECTIONS = 500;

/** The embedded server, which `stop` ends. Its data is in memory. */
async function startEmbedded() {
  const { url, stop } = await startPostgres({
    // To hand reads to other processes would cost more than to read.
    settings: { max_connections: String(MAX_CONNECTIONS), io_method: 'sync' },
  });
  return { url: url(), stop };
}

/** A server in a container, which `stop` ends. Rejects if no Docker runs here. */
async function startContainer() {
  const { GenericContainer, Wait } = await import('testcontainers');
  const settings = [`max_connections=${MAX_CONNECTIONS}`, 'fsync=off', 'full_page_writes=off'];
  const container = await new GenericContainer('postgres:18-alpine')
    .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: 'trust' })
    .withCommand(settings.flatMap((setting) => ['-c', setting]))
    .withTmpFs({ '/var/lib/postgresql': 'rw' })
    .withExposedPorts(5432)
    // The image starts the server twice: the first one only prepares the cluster.
    .withWaitStrategy(
      Wait.forAll([Wait.forLogMessage(/ready to accept connections/, 2), Wait.forListeningPorts()]),
    )
    .start();
  return {
    url: `postgresql://postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`,
    stop: () => container.stop(),
  };
}

/** Rejects if the server cannot be used. */
async function useGivenServer(url: string) {
  const cannot = `The tests cannot connect to the server in TEST_DATABASE_URL: correct it, or unset it to test on an embedded one.`;
  const mayNot = `The role in TEST_DATABASE_URL may not create databases and roles, and each test file needs its own: \`alter role … createdb createrole\`.`;
  const { rows } = await withConnection(url, (client) =>
    client.query(
      'select rolcreatedb and rolcreaterole or rolsuper as allowed from pg_roles where rolname = current_user',
    ),
  ).catch((cause: unknown) => {
    throw new Error(cannot, { cause });
  });
  if (rows[0]?.allowed !== true) throw new Error(mayNot);
  return { url, stop: () => Promise.resolve() };
}
