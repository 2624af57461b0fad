import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { waitFor } from '@paddock/testing/wait-for';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { clientConfig, connectDatabase, type DatabaseConnection } from './connect.ts';
import { isUnavailable } from './errors.ts';
import { createFitness, whyPooled } from './wait-until-fit.ts';

const database = useTestDatabase();

const name = () => sql.id(new URL(database.url).pathname.slice(1));
const setForAll = (setting: string, value: string) =>
  sql`alter database ${name()} set ${sql.id(setting)} = ${sql.lit(value)}`.execute(database.db);
const place = (parameters = '') => ({
  url: `${database.url}${parameters}`,
  schema: database.schema,
  applicationName: 'session',
});
const whyPooledAt = (url: string, schema = database.schema) => {
  const config = clientConfig({
    url,
    schema: database.schema,
    applicationName: 'test',
    connectTimeoutMs: 5_000,
  });
  return whyPooled(config, schema);
};

describe('a pool on an environment', () => {
  let connection: DatabaseConnection;

  beforeAll(() => {
    connection = connectDatabase({
      url: database.url,
      schema: database.schema,
      poolSize: 2,
      applicationName: 'test',
    });
  });
  afterAll(() => connection.close());

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
      ['IntervalStyle', 'sql_standard', 'postgres'],
      ['TimeZone', 'Asia/Tokyo', 'UTC'],
      ['bytea_output', 'escape', 'hex'],
      ['extra_float_digits', '-5', '1'],
      ['standard_conforming_strings', 'off', 'on'],
      ['search_path', 'pg_catalog', 'paddock'],
      ['statement_timeout', '5', '30s'],
      ['idle_session_timeout', '50', '0'],
    ])('%s = %s becomes %s', async (setting, value, expected) => {
      await setForAll(setting, value);
      expect(await inForce(setting)).toBe(expected);
    });

    test.each(['remote_apply', 'remote_write', 'local', 'on'])(
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

describe('a proxy before PostgreSQL', () => {
  test('names a proxy that pools transactions, and says what to do (A11)', async () => {
    const proxy = await startPoolingProxy(database.url);
    try {
      // It answers start-ups itself, so its one backend has a search_path of its own.
      expect(await whyPooledAt(proxy.url, '"$user", public')).toMatch(
        /^a transaction-pooling proxy .* connect to PostgreSQL itself/,
      );
      expect(await whyPooledAt(proxy.url)).toMatch(
        /^a proxy .* drops the start-up options .* connect to PostgreSQL itself/,
      );
    } finally {
      await proxy.stop();
    }
  });

  test('a proxy that refuses our start-up options is named (A11)', async () => {
    const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: options\0\0');
    const length = Buffer.alloc(4);
    length.writeInt32BE(fields.length + 4);
    const server = createServer((client) => {
      client.on('error', () => client.destroy());
      client.on('data', (message: Buffer) => {
        if (asksForTls(message)) client.write('N');
        else client.end(Buffer.concat([Buffer.from('E'), length, fields]));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      expect(await whyPooledAt(`postgresql://someone@127.0.0.1:${port}/any`)).toMatch(
        /^a proxy .* refuses the start-up options .* connect to/,
      );
    } finally {
      server.close();
    }
  });
});

/**
 * A proxy that pools transactions. It answers all start-up messages itself, and passes each
 * client's messages up to the next point of synchronisation to its one backend. Enough for simple
 * queries outside of transactions, no more.
 */
async function startPoolingProxy(url: string) {
  const backend = new pg.Client({ connectionString: url });
  await backend.connect();
  const { stream } = backend.connection;
  // From here on the stream is ours, and the client that logged in for us gets no more of it.
  stream.removeAllListeners();
  let served: Socket | undefined;
  const waiting: { client: Socket; query: Buffer }[] = [];

  const serveNext = () => {
    if (served !== undefined) return;
    const next = waiting.shift();
    if (next === undefined) return;
    served = next.client;
    stream.write(next.query);
  };
  stream.on('data', (answer: Buffer) => {
    served?.write(answer);
    // ReadyForQuery is the last message of an answer.
    if (answer.subarray(-6, -1).equals(READY.subarray(0, 5))) {
      served = undefined;
      serveNext();
    }
  });

  const server = createServer((client) => {
    let isStarted = false;
    client.on('error', () => client.destroy());
    client.on('data', (data: Buffer) => {
      if (isStarted) {
        // A client's goodbye ends here: the backend stays.
        if (data[0] !== 'X'.charCodeAt(0)) waiting.push({ client, query: data });
        serveNext();
      } else if (asksForTls(data)) client.write('N');
      else {
        isStarted = true;
        client.write(Buffer.concat([AUTHENTICATED, READY]));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      stream.destroy();
      await closed;
    },
  };
}

/**
 * A start-up message that only asks whether TLS can be had: its length, and a number in place of a
 * version.
 */
const asksForTls = (message: Buffer): boolean =>
  message.length === 8 && message.readInt32BE(4) === 80_877_103;

const AUTHENTICATED = Buffer.from([...Buffer.from('R'), 0, 0, 0, 8, 0, 0, 0, 0]);
const READY = Buffer.from([...Buffer.from('Z'), 0, 0, 0, 5, ...Buffer.from('I')]);
