import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Logger } from '@paddock/runtime/logger';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { clientConfig, connectDatabase, type DatabaseConnection } from './connect.ts';
import { listen } from './listen.ts';
import { type Outage, watchOutages } from './outage.ts';

const database = useTestDatabase();
let tunnel: Tunnel;
let connection: DatabaseConnection;
let lines: {
  level: string;
  message: string;
  fields?: { reason?: string; cost?: Record<string, number> };
}[];
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
  const watched = watchOutages(raw);
  ({ log, outage } = watched);
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
const messages = () => lines.map(({ level, message }) => `${level}: ${message}`);
const GONE = expect.stringContaining('error: PostgreSQL cannot be reached');
const BACK = 'warn: PostgreSQL answers again';

describe('an outage of PostgreSQL (H1)', () => {
  test('takes two log lines for any number of failures: when it begins, and when it ends, with its cost', async () => {
    await Promise.all([work(), work(), work()]);
    await tunnel.cut();
    for (let time = 1; time <= 5; time++) await work();
    await waitFor('the line of its beginning', () => lines.length > 0);
    expect(messages()).toEqual([GONE]);
    await tunnel.mend();
    await waitFor('the line of its end', () => lines.length > 1);
    expect(messages()).toEqual([GONE, BACK]);
    expect(lines[0]?.fields?.reason).toEqual(expect.any(String));
    expect(lines[1]?.fields).toEqual({
      afterMs: expect.any(Number),
      cost: {
        'the work failed': expect.any(Number),
        'the listener lost its connection': expect.any(Number),
      },
    });
    await work();
    expect(lines).toHaveLength(2);
  });

  test('wakes tasks that wait for its end at the first answer, before the line about its end', async () => {
    const woken: string[][] = [];
    outage.onAnswer(() => void woken.push(messages()));
    await work();
    await tunnel.cut();
    await work();
    expect(woken).toEqual([]);
    await tunnel.mend();
    await waitFor('the line of its end', () => messages().includes(BACK));
    expect(woken).toEqual([[GONE]]);
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
