import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Logger } from '@paddock/runtime/logger';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { Client } from './client.ts';
import { clientConfig, connectDatabase, type DatabaseConnection, openDatabase } from './connect.ts';
import { listen } from './listen.ts';
import { type Outage, watchOutages } from './database-outage.ts';
import { isUnavailable } from './errors.ts';

const database = useTestDatabase();

const caught = (work: Promise<unknown>) => work.catch((error: unknown) => error);

const setReadOnly = (isReadOnly: boolean) =>
  sql`alter database ${sql.id(new URL(database.url).pathname.slice(1))} set default_transaction_read_only = ${sql.lit(isReadOnly)}`.execute(
    database.db,
  );

describe('an outage of PostgreSQL (H1)', () => {
  let tunnel: Tunnel;
  let connection: DatabaseConnection;
  let lines: { level: string; message: string; fields: object }[];
  let outage: Outage;
  let log: Logger;
  let listening: Promise<void>;
  let stop: AbortController;

  beforeEach(async () => {
    tunnel = await startTunnel(database.url);
    lines = [];
    const write = (level: string) => (message: string, fields: object) =>
      void lines.push({ level, message, fields });
    const raw = {
      error: write('error'),
      warn: write('warn'),
      info: write('info'),
      debug: () => undefined,
    } as unknown as Logger;
    ({ log, outage } = watchOutages(raw));
    const options = { url: tunnel.url, schema: database.schema, applicationName: 'outage', outage };
    connection = connectDatabase({ ...options, poolSize: 4 });
    stop = new AbortController();
    const onError = (error: unknown) => log.warn('the listener lost its connection', { error });
    listening = listen(
      { config: clientConfig(options), channels: ['any'], onWake: () => undefined, onError },
      stop.signal,
    );
  });
  afterEach(async () => {
    stop.abort();
    await listening;
    await connection.close();
    await outage.close();
    await tunnel.cut();
  });

  const work = () =>
    sql`select 1`
      .execute(connection.db)
      .then(undefined, (error: unknown) => void log.error('the work failed', { error }));
  const write = () =>
    sql`create temporary table if not exists written ()`
      .execute(connection.db)
      .then(undefined, (error: unknown) => void log.error('the work failed', { error }));
  const isWritable = () =>
    sql<{ is: boolean }>`select current_setting('transaction_read_only') = 'off' as is`
      .execute(connection.db)
      .then(({ rows }) => rows[0]?.is);
  const messages = () => lines.map(({ level, message }) => `${level}: ${message}`);
  const GONE = expect.stringContaining('error: PostgreSQL cannot be reached');
  const BACK = 'warn: PostgreSQL answers again';

  test('takes two log lines for any number of failures, with its cost, and wakes who waits for its end', async () => {
    const woken: string[][] = [];
    outage.onAnswer(() => void woken.push(messages()));
    await Promise.all([work(), work(), work()]);
    await tunnel.cut();
    for (let time = 1; time <= 5; time++) await work();
    await waitFor('the line of its beginning', () => lines.length > 0);
    expect(messages()).toEqual([GONE]);
    await tunnel.mend();
    await waitFor('the line of its end', () => lines.length > 1);
    expect(messages()).toEqual([GONE, BACK]);
    expect(lines.map(({ fields }) => fields)).toEqual([
      { reason: expect.any(String) },
      {
        afterMs: expect.any(Number),
        cost: {
          'the work failed': expect.any(Number),
          'the listener lost its connection': expect.any(Number),
        },
      },
    ]);
    // At the first answer, before the line about its end.
    expect(woken[0]).toEqual([GONE]);
    await work();
    expect(lines).toHaveLength(2);
  });

  test.each(['53300', '53400', 'EMFILE'])(
    'a connection that cannot be added (%s) is none: nothing is logged, and those that are open stay (A11)',
    async (code) => {
      const session = async () =>
        (await sql`select pg_backend_pid() as pid`.execute(connection.db)).rows;
      const before = await session();
      outage.failed(Object.assign(new Error('no more'), { code }), connection.config);
      expect(await session()).toEqual(before);
      expect(lines).toEqual([]);
    },
  );

  test('is also that it takes no writes, as a standby that a failover left at the address: no session of that time stays', async () => {
    await setReadOnly(true);
    try {
      expect(await isWritable()).toBe(false);
      await Promise.all([write(), write(), write()]);
      for (let time = 1; time <= 5; time++) await write();
      await waitFor('the line of its beginning', () => lines.length > 0);
      expect(messages()).toEqual([GONE]);
    } finally {
      await setReadOnly(false);
    }
    expect(await isWritable()).toBe(true);
    await waitFor('the line of its end', () => lines.length > 1);
    await Promise.all([write(), write(), write(), write()]);
    expect(messages()).toEqual([GONE, BACK]);
  });

  test('and a session that no longer takes writes is left with its first failure: others may be elsewhere by now', async () => {
    await sql`set default_transaction_read_only = on`.execute(connection.db);
    await write();
    expect(await isWritable()).toBe(true);
    await waitFor('the line of its end', () => messages().includes(BACK));
  });

  test('hides no other error: not a refusal of PostgreSQL, nor an error of another connection, nor a later one', async () => {
    await work();
    await tunnel.cut();
    await work();
    log.error('GitHub failed', { error: new Error('connect ECONNREFUSED') });
    log.info('something else');
    await tunnel.mend();
    await waitFor('the line of its end', () => messages().includes(BACK));
    await sql`select 1/0`
      .execute(connection.db)
      .catch((error: unknown) => log.error('the work failed', { error }));
    expect(messages()).toEqual([
      GONE,
      'error: GitHub failed',
      'info: something else',
      BACK,
      'error: the work failed',
    ]);
  });
});

describe('silence', () => {
  let tunnel: Tunnel;
  let connection: DatabaseConnection;
  let cuts: string[];

  beforeEach(async () => {
    tunnel = await startTunnel(database.url);
    cuts = [];
    connection = open({ answerLimitMs: 1_500 });
  });
  afterEach(async () => {
    await connection.close();
    await tunnel.cut();
  });

  const options = () => ({
    url: tunnel.url,
    schema: database.schema,
    applicationName: 'silence',
    connectTimeoutMs: 1_500,
    idleTransactionMs: 500,
    onCut: ({ message }: Error) => void cuts.push(message),
  });
  const open = (more: object = {}) => openDatabase({ ...clientConfig(options()), ...more }, 4);
  const sleeping = (seconds: number, { db } = connection) =>
    sql`select pg_sleep(${seconds})`.execute(db);
  const one = ({ db } = connection) => sql<{ one: number }>`select 1 as one`.execute(db);
  const openFour = (of = connection) => Promise.all([1, 2, 3, 4].map(() => sleeping(0.1, of)));

  test('a connection is closed although no server answers its goodbye', async () => {
    const client = new Client(clientConfig(options()));
    await client.connect();
    tunnel.replaceServer();
    await expect(client.end()).resolves.toBeUndefined();
  });

  test('the longest answer is that of the longest statement and a little more, and has no limit in a migration (A11)', () => {
    expect(clientConfig({ ...options(), statementTimeoutMs: 15_000 }).answerLimitMs).toBe(20_000);
    expect(clientConfig(options()).answerLimitMs).toBe(35_000);
    expect(clientConfig({ ...options(), statementTimeoutMs: 0 }).answerLimitMs).toBeUndefined();
  });

  describe('PostgreSQL goes silent (A11)', () => {
    test('and another server answers at its address: calls that hang fail after the limit of an answer, and later ones are answered', async () => {
      await openFour();
      const hanging = [caught(sleeping(0.3)), caught(one())];
      tunnel.replaceServer();
      expect(tunnel.silenced()).toBe(4);
      for (const error of await Promise.all(hanging)) expect(isUnavailable(error)).toBe(true);
      expect(cuts).toEqual(
        [1, 2].map(() => 'PostgreSQL has not answered for 1500 ms: closed the connection'),
      );
      for (let time = 1; time <= 4; time++) await caught(one());
      expect((await one()).rows).toEqual([{ one: 1 }]);
    });

    test('and does not come back: no call hangs for ever, nor the end of the pool', async () => {
      await openFour();
      tunnel.setSilent(true);
      expect(isUnavailable(await caught(one()))).toBe(true);
      await expect(connection.close()).resolves.toBeUndefined();
      connection = open();
    });

    test.each([
      { what: 'and its server with it', end: () => tunnel.replaceServer() },
      { what: 'although its server keeps the session', end: () => tunnel.strandAll() },
    ])('a transaction fails as a whole, $what, and what it had locked is free', async ({ end }) => {
      const began = Promise.withResolvers<unknown>();
      const broken = Promise.withResolvers<unknown>();
      const failed = caught(
        connection.db.transaction().execute(async (trx) => {
          await sql`lock table leases in access exclusive mode`.execute(trx);
          began.resolve(undefined);
          await broken.promise;
          await sql`select 1`.execute(trx);
        }),
      );
      await began.promise;
      end();
      broken.resolve(undefined);
      expect(isUnavailable(await failed)).toBe(true);
      await expect(database.db.selectFrom('leases').selectAll().execute()).resolves.toBeDefined();
    });
  });

  describe('an outage that another connection tells of (A11)', () => {
    const { outage } = watchOutages(SILENT_LOG);
    let listening: Promise<void>;
    let stop: AbortController;
    let heard: number;
    let shared: DatabaseConnection;

    beforeEach(async () => {
      stop = new AbortController();
      heard = 0;
      shared = open({ outage });
      const config = { ...clientConfig({ ...options(), applicationName: 'listener' }), outage };
      const onWake = () => void heard++;
      listening = listen(
        { config, channels: ['any'], onWake, onError: () => undefined },
        stop.signal,
      );
      await waitFor('the listener', () => heard > 0);
      await openFour(shared);
    });
    afterEach(async () => {
      stop.abort();
      await listening;
      await shared.close();
    });

    test('a service is whole at most ten seconds after another server answers, though its longest statement takes 30', async () => {
      const hanging = [1, 2, 3, 4].map(() => caught(sleeping(0.1, shared)));
      await Promise.resolve();
      tunnel.replaceServer();
      const replacedAt = performance.now();
      for (const error of await Promise.all(hanging)) expect(isUnavailable(error)).toBe(true);
      await waitFor('an answer', async () => {
        const answer = await caught(one(shared));
        return !(answer instanceof Error);
      });
      expect(performance.now() - replacedAt).toBeLessThan(10_000);
      expect(
        cuts.filter((cut) => cut.startsWith('PostgreSQL has not answered for 3000 ms')),
      ).toHaveLength(4);
    });

    test('a statement that PostgreSQL still works on may take three seconds more', async () => {
      const slow = sleeping(2, shared);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'`.execute(
        database.db,
      );
      await waitFor('the listener again', () => heard > 1);
      await expect(slow).resolves.toBeDefined();
      expect(cuts).toEqual([]);
    });
  });
});
