import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { connectDatabase, clientConfig, type DatabaseConnection } from './connect.ts';
import { isUnavailable } from './errors.ts';
import { ownConnection } from './own-connection.ts';

const database = useTestDatabase();
let tunnel: Tunnel;
let connection: DatabaseConnection;
let cuts: string[];

beforeEach(async () => {
  tunnel = await startTunnel(database.url);
  cuts = [];
  connection = connectDatabase({
    ...place(),
    poolSize: 4,
    onCut: ({ message }) => void cuts.push(message),
  });
});
afterEach(async () => {
  await connection.close();
  await tunnel.cut();
});

/** As a migration has it: no limit of its own would ever end a statement. */
const place = () => ({
  url: tunnel.url,
  schema: database.schema,
  applicationName: 'silence',
  statementTimeoutMs: 0,
});
const sleeping = (seconds: number) => sql`select pg_sleep(${seconds})`.execute(connection.db);
const one = () => sql<{ one: number }>`select 1 as one`.execute(connection.db);
const openFour = () => Promise.all([1, 2, 3, 4].map(() => sleeping(0.1)));
const sessions = async () =>
  (
    await sql<{
      state: string;
    }>`select state from pg_stat_activity where application_name = 'silence'`.execute(database.db)
  ).rows.length;

describe('PostgreSQL goes silent (A11)', () => {
  test('and another server answers at its address: calls that hang fail, idle connections are closed, and the next statements are answered', async () => {
    await openFour();
    const hanging = [
      sleeping(0.3).catch((error: unknown) => error),
      one().catch((error: unknown) => error),
    ];
    tunnel.replaceServer();
    expect(tunnel.silenced()).toBe(4);
    for (const error of await Promise.all(hanging)) expect(isUnavailable(error)).toBe(true);
    expect(cuts).toEqual([
      'PostgreSQL has lost our sessions: closed 2 connections in use and 2 idle ones',
    ]);
    for (let time = 1; time <= 4; time++) expect((await one()).rows).toEqual([{ one: 1 }]);
    expect(cuts).toHaveLength(1);
  });

  test('for a while, and the data is lost: the call fails although its session still exists', async () => {
    await openFour();
    tunnel.setSilent(true);
    const lost = one().catch((error: unknown) => error);
    await waitFor('a look in vain', async () => (await sessions()) === 4);
    tunnel.setSilent(false);
    expect(isUnavailable(await lost)).toBe(true);
    expect((await one()).rows).toEqual([{ one: 1 }]);
  });

  test('a slow statement is left alone, with any short limit: its session is at work', async () => {
    await expect(sleeping(5)).resolves.toBeDefined();
    const waiting = await database.db.transaction().execute(async (trx) => {
      await sql`lock table leases in access exclusive mode`.execute(trx);
      const counted = connection.db.selectFrom('leases').selectAll().execute();
      await sql`select pg_sleep(4)`.execute(trx);
      return { counted };
    });
    await expect(waiting.counted).resolves.toBeDefined();
    expect(cuts).toEqual([]);
  });

  test.each([
    { what: 'and its server with it', end: () => tunnel.replaceServer() },
    { what: 'although its server keeps the session', end: () => tunnel.strandAll() },
  ])('a transaction fails as a whole, $what, and what it had locked is free', async ({ end }) => {
    const began = Promise.withResolvers<unknown>();
    const broken = Promise.withResolvers<unknown>();
    const failed = connection.db
      .transaction()
      .execute(async (trx) => {
        await sql`lock table leases in access exclusive mode`.execute(trx);
        began.resolve(undefined);
        await broken.promise;
        await sql`select 1`.execute(trx);
      })
      .catch((error: unknown) => error);
    await began.promise;
    end();
    broken.resolve(undefined);
    expect(isUnavailable(await failed)).toBe(true);
    await expect(database.db.selectFrom('leases').selectAll().execute()).resolves.toBeDefined();
  });

  test('a pool is closed although no server answers its goodbye', async () => {
    await openFour();
    tunnel.replaceServer();
    await expect(connection.close()).resolves.toBeUndefined();
    connection = connectDatabase({ ...place(), poolSize: 1 });
  });

  test('replaces a single connection in doubt at once, and its statement is answered', async () => {
    const own = ownConnection({
      config: clientConfig(place()),
      patienceMs: 60_000,
      limitMs: 60_000,
    });
    await own.query('select 1', []);
    tunnel.replaceServer();
    const hanging = own.query('select 1 as one', []);
    own.suspectBreak();
    expect(await hanging).toEqual([{ one: 1 }]);
    await own.close();
  });

  test('keeps the session of a single connection that is only slow, though it tried another one beside it in vain', async () => {
    const own = ownConnection({ config: clientConfig(place()), patienceMs: 500, limitMs: 3_000 });
    const session = async () =>
      (await own.query<{ pid: number }>('select pg_backend_pid() as pid', []))[0]?.pid;
    const before = await session();
    tunnel.setHeld(true);
    expect(isUnavailable(await session().catch((error: unknown) => error))).toBe(true);
    expect(own.answeringForMs()).toBeDefined();
    tunnel.setHeld(false);
    expect(await session()).toBe(before);
    await own.close();
  });
});
