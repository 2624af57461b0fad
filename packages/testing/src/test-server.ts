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

/** A PostgreSQL server for tests' databases; stop() ends it if it was started for the tests. */
interface FoundServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Enough for several test files at once, each with a few services of ten connections. */
const MAX_CONNECTIONS = 500;
const IMAGE = 'postgres:18-alpine';
const PORT = 5432;

/**
 * The server for a test run: TEST_DATABASE_URL if set, else one in Docker if Docker runs here, else
 * the embedded one. Rejects if TEST_DATABASE_URL cannot be used. If a container cannot be started,
 * prints so and continues.
 */
async function findServer(
  testDatabaseUrl: string | undefined,
  warn: (message: string) => void,
): Promise<FoundServer> {
  if (testDatabaseUrl !== undefined && testDatabaseUrl !== '')
    return useGivenServer(testDatabaseUrl);
  return (await startContainer(warn)) ?? startEmbedded();
}

async function useGivenServer(url: string): Promise<FoundServer> {
  const allowed = await withConnection(url, async (client) => {
    const { rows } = await client.query(
      'select rolcreatedb and rolcreaterole or rolsuper as allowed from pg_roles where rolname = current_user',
    );
    return rows[0]?.allowed === true;
  }).catch((error: unknown) => {
    throw new Error(
      'The tests cannot connect to the server in TEST_DATABASE_URL: correct it, or unset it to test on an embedded one.',
      {
        cause: error,
      },
    );
  });
  if (!allowed) {
    throw new Error(
      'The role in TEST_DATABASE_URL may not create databases and roles, and each test file needs its own: `alter role … createdb createrole`.',
    );
  }
  return { url, stop: () => Promise.resolve() };
}

async function startEmbedded(): Promise<FoundServer> {
  const postgres = await startPostgres({
    // Its data is in memory: to hand reads to other processes would cost more than to read.
    settings: { max_connections: String(MAX_CONNECTIONS), io_method: 'sync' },
  });
  return { url: postgres.url(), stop: postgres.stop };
}

/** Undefined: there is no Docker, or it cannot run the image, for example without a network. */
async function startContainer(warn: (message: string) => void): Promise<FoundServer | undefined> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  const isThere = await getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  try {
    const container = await new GenericContainer(IMAGE)
      .withEnvironment({ POSTGRES_HOST_AUTH_METHOD: 'trust' })
      .withCommand([
        '-c',
        `max_connections=${MAX_CONNECTIONS}`,
        '-c',
        'fsync=off',
        '-c',
        'full_page_writes=off',
      ])
      .withTmpFs({ '/var/lib/postgresql': 'rw' })
      .withExposedPorts(PORT)
      // The image starts the server twice: the first one only prepares the cluster.
      .withWaitStrategy(
        Wait.forAll([
          Wait.forLogMessage(/ready to accept connections/, 2),
          Wait.forListeningPorts(),
        ]),
      )
      .start();
    return {
      url: `postgresql://postgres@${container.getHost()}:${container.getMappedPort(PORT)}/postgres`,
      stop: async () => {
        await container.stop();
      },
    };
  } catch (error) {
    warn(
      `Docker is here but could not run ${IMAGE} (${String(error)}): the tests use the embedded PostgreSQL.`,
    );
    return undefined;
  }
}
