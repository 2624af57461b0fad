import { connectDatabase } from '@paddock/db/connection/connect';
import type { Db } from '@paddock/db/schema/tables';
import type { ServiceName } from '@paddock/db/connection/schema-name';
import { admitLogins, type ServiceLogins, urlFor } from './service-logins.ts';
import {
  dropDatabase,
  uniqueDatabaseName,
  urlOfDatabase,
  withConnection,
} from './server-connection.ts';

/** The schema of the tests' environments. */
export const TEST_SCHEMA = 'paddock';

/** A database of its own for one test file. */
export interface EmptyDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/**
 * A migrated database and a pool on it, which drop() closes. A test's own statements may be of any
 * kind.
 */
export interface TestDatabase extends EmptyDatabase {
  readonly schema: string;
  readonly db: Db;
  /** A URL for a service: its login has the rights of its role, and no others. */
  urlOf(service: ServiceName): string;
  /** A pool that has a service's rights; drop() closes it. */
  dbOf(service: ServiceName): Db;
}

const POOL_SIZE = 10;

/** A busy machine may take long to open a connection, and no test of a database is about it. */
const CONNECT_TIMEOUT_MS = 60_000;
/** A busy machine takes long to fill a table with a year's rows. */
const STATEMENT_TIMEOUT_MS = 300_000;

/**
 * A clone of the migrated template. Call drop() after the tests; it cuts connections that are still
 * open.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(fromSetup('PADDOCK_TEST_TEMPLATE'));
  return openEnvironment({ url, schema: TEST_SCHEMA, drop });
}

/**
 * The environment of a migrated schema. Its drop() closes its own connections, then calls the given
 * one.
 */
export async function openMigrated(given: {
  url: string;
  schema: string;
  drop?: () => Promise<void>;
}): Promise<TestDatabase> {
  await admitLogins(given.url, serviceLogins(), given.schema);
  return openEnvironment(given);
}

function openEnvironment({
  url,
  schema,
  drop,
}: {
  url: string;
  schema: string;
  drop?: () => Promise<void>;
}): TestDatabase {
  const closing: (() => Promise<void>)[] = [];
  const open = (at: string): Db => {
    const { db, close } = connectDatabase({
      url: at,
      schema,
      poolSize: POOL_SIZE,
      applicationName: 'paddock-test',
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      // Tests hold locks while they wait for a fact.
      idleTransactionMs: STATEMENT_TIMEOUT_MS,
    });
    closing.push(close);
    return db;
  };
  const urlOf = (service: ServiceName): string => urlFor(url, serviceLogins(), service);
  const opened = new Map<ServiceName, Db>();
  return {
    url,
    schema,
    db: open(url),
    urlOf,
    dbOf: (service) => {
      const db = opened.get(service) ?? open(urlOf(service));
      opened.set(service, db);
      return db;
    },
    drop: async () => {
      for (const close of closing.splice(0)) await close();
      await drop?.();
    },
  };
}

/** An empty database, for the tests of the migrations. */
export async function createEmptyDatabase(): Promise<EmptyDatabase> {
  return createDatabase('template0');
}

async function createDatabase(template: string): Promise<EmptyDatabase> {
  const server = fromSetup('PADDOCK_TEST_SERVER_URL');
  const name = uniqueDatabaseName('paddock_test');
  // A copy of the files: the default, through the log, costs three times the CPU time.
  await withConnection(server, (client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  );
  return { url: urlOfDatabase(server, name), drop: () => dropDatabase(server, name) };
}

const serviceLogins = (): ServiceLogins =>
  JSON.parse(fromSetup('PADDOCK_TEST_LOGINS')) as ServiceLogins;

function fromSetup(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(
    `${name} is not set, so there is no database to test on. Name the file *.db.test.ts and run it with \`npx -y pnpm@12 jest\`.`,
  );
}
