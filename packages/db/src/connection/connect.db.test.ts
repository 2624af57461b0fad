import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { type RawBuilder, sql } from 'kysely';
import { startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { clientConfig, connectDatabase, type DatabaseConnection } from './connect.ts';
import { readDatabaseFacts, whyUnfit } from '../database-checks.ts';
import { createFitness, whyPooled } from './readiness.ts';

const database = useTestDatabase();

const name = () => sql.id(new URL(database.url).pathname.slice(1));
const setForAll = (setting: string, value: string) =>
  sql`alter database ${name()} set ${sql.id(setting)} = ${sql.lit(value)}`.execute(database.db);
const place = (parameters = '') => ({
  url: `${database.url}${parameters}`,
  schema: database.schema,
  applicationName: 'session',
});
describe('the settings of a session', () => {
  const opened: DatabaseConnection[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ close }) => close()));
    await sql`alter database ${name()} reset all`.execute(database.db);
  });

  function open(parameters?: string) {
    const connection = connectDatabase({ ...place(parameters), poolSize: 1 });
    opened.push(connection);
    return connection.db;
  }
  const inForce = async (setting: string, parameters?: string) =>
    (
      await sql<{ value: string }>`select current_setting(${setting}, true) as value`.execute(
        open(parameters),
      )
    ).rows[0]?.value;

  describe('a session has the settings that our statements need, with any settings of role and database (A11)', () => {
    test.each([
      ['synchronous_commit', 'off', 'on'],
      ['default_transaction_isolation', 'serializable', 'read committed'],
      ['DateStyle', 'German, DMY', 'ISO, MDY'],
      ['search_path', 'pg_catalog', 'paddock'],
      ['statement_timeout', '5', '30s'],
      ['idle_session_timeout', '50', '0'],
    ])('%s = %s becomes %s', async (setting, value, expected) => {
      await setForAll(setting, value);
      expect(await inForce(setting)).toBe(expected);
    });

    test.each(['remote_apply', 'local'])(
      'synchronous_commit = %s stays: a commit waits for a disk',
      async (value) => {
        await setForAll('synchronous_commit', value);
        expect(await inForce('synchronous_commit')).toBe(value);
      },
    );

    test('triggers that do not fire cannot be helped by us, and keep a service from being ready', async () => {
      await setForAll('session_replication_role', 'replica');
      const whyNotReady = createFitness({
        db: open(),
        schema: database.schema,
        config: clientConfig(place()),
      });
      // A busy machine may not answer in time; that is logged as well, and passes.
      const why = /^PostgreSQL cannot be asked: session_replication_role is replica.*reset/;
      expect(await waitFor('the reason', async () => why.test((await whyNotReady()) ?? ''))).toBe(
        true,
      );
    });
  });
});

test('a login is told which role it lacks (A10, A11)', async () => {
  const unfitAs = async (db: DatabaseConnection['db'], role: string) => {
    const at = { schema: database.schema, role };
    return whyUnfit(await readDatabaseFacts(db, at), at);
  };
  const ingress = database.dbOf('ingress');
  expect(await unfitAs(ingress, 'paddock_ingress')).toBeUndefined();
  expect(await unfitAs(ingress, 'paddock_console')).toMatch(
    /lacks rights in the schema paddock \(\w+ on \w+, .*: grant it the role paddock_console$/,
  );
  const stranger = `${new URL(database.url).pathname.slice(1)}_stranger`;
  await sql`create role ${sql.id(stranger)}`.execute(database.db);
  await database.db.connection().execute(async (db) => {
    await sql`set role ${sql.id(stranger)}`.execute(db);
    expect(await unfitAs(db, 'paddock_ingress')).toMatch(/may not use .* role paddock_ingress$/);
    await sql`reset role`.execute(db);
  });
  await sql`drop role ${sql.id(stranger)}`.execute(database.db);
});

test('a database whose system has got other rules of order is told of (A11)', async () => {
  const note = async (version: RawBuilder<string | null>) => {
    const here = sql`datname = current_database()`;
    await sql`update pg_database set datcollversion = ${version} where ${here}`.execute(
      database.db,
    );
    return (await readDatabaseFacts(database.db, database)).isCollationOld;
  };
  const before = await readDatabaseFacts(database.db, database);
  expect(before.isCollationOld).toBe(false);
  expect(await note(sql`'0.1'`)).toBe(true);
  expect(await note(sql`pg_database_collation_actual_version(oid)`)).toBe(false);
});

/** Works with the URL of a server that answers start-ups and statements like this. */
async function withServer<T>(
  [startUp, answer = Buffer.of()]: readonly Buffer[],
  work: (url: string, server: Server) => Promise<T>,
): Promise<T> {
  const server = createServer((client) => {
    let isStarted = false;
    client.on('error', () => client.destroy());
    client.on('data', (data: Buffer) => {
      // A start-up message that only asks for TLS: its length, and a number in place of a version.
      if (data.length === 8 && data.readInt32BE(4) === 80_877_103) client.write('N');
      else client.write(isStarted ? answer : (startUp ?? answer));
      isStarted ||= data.length !== 8;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await work(`postgresql://someone@127.0.0.1:${port}/any`, server);
  } finally {
    server.close();
  }
}

const int16 = (value: number) => Buffer.of(0, value);
const int32 = (value: number) => Buffer.of(0, 0, 0, value);
const said = (type: string, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};
const READY = said('Z', Buffer.from('I'));
const STARTED = Buffer.concat([said('R', int32(0)), READY]);
const TEXT_COLUMN = Buffer.concat([int32(0), int16(0), int32(25), int16(0), int32(0), int16(0)]);
const session = (pid: string, path: string) =>
  Buffer.concat([
    said(
      'T',
      int16(2),
      ...['pid', 'path'].map((column) => Buffer.concat([Buffer.from(`${column}\0`), TEXT_COLUMN])),
    ),
    said(
      'D',
      int16(2),
      ...[pid, path].flatMap((value) => [int32(value.length), Buffer.from(value)]),
    ),
    said('C', Buffer.from('SELECT 1\0')),
    READY,
  ]);

test.each([
  ['has one session for all', [STARTED, session('7', 'paddock')], /^a transaction-pooling proxy/],
  ['drops our start-up options', [STARTED, session('7', 'public')], /drops the start-up options/],
  [
    'refuses our start-up options',
    [said('E', Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0'))],
    /refuses the start-up options/,
  ],
] as const)('a proxy before PostgreSQL that %s is named (A11)', async (_what, answers, why) => {
  const reason = await withServer(answers, (url) =>
    whyPooled(clientConfig({ ...place(), url }), database.schema),
  );
  expect(reason).toMatch(why);
  expect(reason).toContain('connect to PostgreSQL itself');
});

test('who has no password leaves no connection behind, on which PostgreSQL waits a minute for it (A11)', async () => {
  const asksForPassword = said('R', int32(3));
  await withServer([asksForPassword], async (url, server) => {
    const connection = connectDatabase({ ...place(), url: `${url}?passfile=/absent`, poolSize: 2 });
    let tries = 0;
    server.on('connection', () => void tries++);
    const ask = () =>
      expect(sql`select 1`.execute(connection.db)).rejects.toThrow('/absent cannot be read');
    await Promise.all([ask(), ask()]);
    expect(tries).toBe(2);
    const left = async () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
    await waitFor('the end of the connection', async () => (await left()) === 0);
    await connection.close();
  });
});

describe('while PostgreSQL refuses its login, as for a changed password (A11)', () => {
  let url: URL;
  const change = (statement: string, rest = '') =>
    sql`${sql.raw(statement)} role ${sql.id(url.username)} ${sql.raw(rest)}`.execute(database.db);
  beforeEach(() => {
    url = new URL(database.url);
    url.username = `${url.pathname.slice(1)}_refused`;
    return change('create', 'login');
  });
  afterEach(() => change('drop'));

  test('a pool works on with its open sessions', async () => {
    const options = { ...place(), url: url.href, poolSize: 4 };
    const connection = connectDatabase(options);
    const work = () => sql`select pg_sleep(0.05)`.execute(connection.db);
    await work();
    await change('alter', 'nologin');
    await expect(Promise.all([work(), work(), work(), work()])).resolves.toHaveLength(4);
    await connection.close();
    await expect(connectDatabase(options).pool.connect()).rejects.toMatchObject({ code: '28000' });
  });

  test('a caller that waits in vain is told of the refusal, also while the next login has no answer', async () => {
    const tunnel = await startTunnel(url.href);
    const limits = { poolSize: 2, connectTimeoutMs: 1_500 };
    const { db, pool, close } = connectDatabase({ ...place(), url: tunnel.url, ...limits });
    await db.connection().execute(async (open) => {
      await sql`select 1`.execute(open);
      await change('alter', 'nologin');
      const asking = sql`select 1`.execute(db).catch((error: unknown) => error);
      await waitFor('the refusal', () => pool.waitingCount === 1 && pool.totalCount === 1);
      tunnel.setSilent(true);
      expect(await asking).toMatchObject({ code: '28000' });
      tunnel.setSilent(false);
    });
    await close();
    await tunnel.cut();
  });
});

test('a pool without a session rests before it asks a PostgreSQL without room again, however many wait (A11)', async () => {
  const full = said('E', Buffer.from('SFATAL\0C53300\0Msorry, too many clients already\0\0'));
  await withServer([full], async (url, server) => {
    const limits = { poolSize: 4, connectTimeoutMs: 1_000 };
    const connection = connectDatabase({ ...place(), url: `${url}?sslmode=disable`, ...limits });
    let tries = 0;
    server.on('connection', (client) => {
      tries++;
      client.once('data', () => client.end());
    });
    const ask = () => expect(sql`select 1`.execute(connection.db)).rejects.toThrow('too many');
    await Promise.all([ask(), ask(), ask()]);
    expect(tries).toBeLessThan(60);
    await connection.close();
  });
});
