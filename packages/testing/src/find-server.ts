import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { withConnection } from './server-connection.ts';

/** A PostgreSQL server for tests' databases; stop() ends it if it was started for the tests. */
export interface FoundServer {
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
export async function findServer(
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
