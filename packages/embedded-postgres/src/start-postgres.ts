import { join } from 'node:path';
import { createCluster } from './cluster.ts';
import { findNativeFiles, findServerAccount } from './native-files.ts';
import { findFreePort, isFree } from './free-port.ts';
import { launchServer, type RunningServer, type ShutdownMode } from './launch-server.ts';
import { findPlaceInMemory, makeTemporaryFolder, removeFolder } from './temporary-folder.ts';

export interface PostgresOptions {
  /** Settings of the server, by their names in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Keeps the data on disk with PostgreSQL's default durability, to measure what a real server
   * would do.
   */
  readonly durable?: boolean;
}

/**
 * A running PostgreSQL. Every process that reaches 127.0.0.1 is its superuser, without a password:
 * use it only for development, tests and demonstrations.
 */
export interface Postgres {
  readonly port: number;
  readonly dataDir: string;
  /** The URL of a database on it, by default `postgres`. */
  readonly url: (database?: string) => string;
  /** Ends the server and keeps its data for resume(). Does nothing if it is halted. */
  readonly halt: (options?: { readonly mode?: ShutdownMode }) => Promise<void>;
  /**
   * Starts the halted server again, with the same data on the same port. Does nothing if it runs.
   */
  readonly resume: () => Promise<void>;
  /** Ends the server for good and removes its data. Later calls do nothing. */
  readonly stop: (options?: { readonly mode?: ShutdownMode }) => Promise<void>;
}

const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
};

/**
 * The data need not survive a crash of the machine, so no commit waits for the disk. It must
 * survive a crash of the server: `synchronous_commit = off` would lose the last commits, and saves
 * at most some hundredths of a millisecond.
 */
const WITHOUT_DURABILITY = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

const PORT_ATTEMPTS = 5;

/**
 * Starts a PostgreSQL server on this machine and resolves once it accepts connections. It ends with
 * this process, even if that is killed.
 *
 * Rejects, and says what to do, if PostgreSQL is not installed for this machine, or if the server
 * does not start (the message contains its log).
 */
export async function startPostgres({
  settings: given,
  durable = false,
}: PostgresOptions = {}): Promise<Postgres> {
  const account = await findServerAccount();
  const folders: string[] = [];
  const makeFolder = async (place?: string): Promise<string> => {
    const folder = await makeTemporaryFolder(place);
    folders.push(folder);
    return folder;
  };
  const removeFolders = () => Promise.all(folders.map(removeFolder));
  try {
    const onDisk = await makeFolder();
    const nativeFiles = await findNativeFiles(account, onDisk);
    const memory = durable ? undefined : await findPlaceInMemory();
    const dataDir = join(memory === undefined ? onDisk : await makeFolder(memory), 'data');
    const cluster = { nativeFiles, dataDir, account, environment: ENVIRONMENT };
    await createCluster(cluster);
    const settings = { ...SETTINGS, ...(durable ? {} : WITHOUT_DURABILITY), ...given };
    const launchOn = (port: number) => launchServer({ ...cluster, port, settings });
    const { port, server } = await launchOnFreePort(launchOn);
    return handle({ port, dataDir, server, launch: () => launchOn(port), removeFolders });
  } catch (error) {
    await removeFolders();
    throw error;
  }
}

/** Another process may take a free port before the server does. */
async function launchOnFreePort(
  launchOn: (port: number) => Promise<RunningServer>,
): Promise<{ port: number; server: RunningServer }> {
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort();
    try {
      return { port, server: await launchOn(port) };
    } catch (error) {
      if (attempt === PORT_ATTEMPTS || (await isFree(port))) throw error;
    }
  }
}

interface Started {
  readonly port: number;
  readonly dataDir: string;
  readonly server: RunningServer;
  readonly launch: () => Promise<RunningServer>;
  readonly removeFolders: () => Promise<unknown>;
}

function handle({ port, dataDir, server, launch, removeFolders }: Started): Postgres {
  let running: RunningServer | undefined = server;
  let stopped: Promise<void> | undefined;
  const halt: Postgres['halt'] = async ({ mode = 'smart' } = {}) => {
    await running?.end(mode);
    running = undefined;
  };
  const stop: Postgres['stop'] = async (how) => {
    try {
      await halt(how);
    } finally {
      await removeFolders();
    }
  };
  return {
    port,
    dataDir,
    url: (database = 'postgres') =>
      `postgresql://postgres@127.0.0.1:${port}/${encodeURIComponent(database)}`,
    halt,
    resume: async () => {
      if (stopped)
        throw new Error(`PostgreSQL on port ${port} was stopped for good: start a new one.`);
      running ??= await launch();
    },
    stop: (how) => {
      stopped ??= stop(how);
      return stopped;
    },
  };
}
