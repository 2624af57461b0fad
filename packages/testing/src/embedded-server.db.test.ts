import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import pg from 'pg';
import { withConnection } from './server-connection.ts';

describe('the embedded server and its clients', () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await startPostgres();
    await withConnection(postgres.url(), (client) =>
      client.query('create table kept (value text)'),
    );
  });

  afterAll(() => postgres.stop({ mode: 'fast' }));

  test.each(['smart', 'fast'] as const)(
    'a %s halt cuts off who stays, with the code of a shutdown',
    async (mode) => {
      const guest = await connectGuest(postgres.url());
      await postgres.halt({ mode });
      expect(await guest.cutOff).toMatchObject({ code: '57P01' });
      await postgres.resume();
    },
  );

  test('after an immediate halt, a crash, the next start recovers committed rows only', async () => {
    await withConnection(postgres.url(), (client) =>
      client.query(`insert into kept values ('committed')`),
    );
    const guest = await connectGuest(postgres.url());
    await guest.client.query(`begin; insert into kept values ('open')`);
    await postgres.halt({ mode: 'immediate' });
    await guest.cutOff;
    await postgres.resume();
    const { rows } = await withConnection(postgres.url(), (client) =>
      client.query('select value from kept'),
    );
    expect(rows).toEqual([{ value: 'committed' }]);
  });

  test('commits wait for the disk with durable data, and not with temporary data', async () => {
    const durable = await startPostgres({ durable: true });
    expect([await durabilityOf(postgres), await durabilityOf(durable)]).toEqual([
      { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'on' },
      { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
    ]);
    await durable.stop();
  });
});

async function connectGuest(url: string): Promise<{ client: pg.Client; cutOff: Promise<unknown> }> {
  const client = new pg.Client({ connectionString: url });
  const cutOff = new Promise((resolve) => {
    client.once('error', (error) => {
      // The first error is followed by the socket's end.
      client.on('error', () => undefined);
      resolve(error);
    });
  });
  await client.connect();
  return { client, cutOff };
}

async function durabilityOf({ url }: Postgres): Promise<Record<string, string>> {
  return withConnection(url(), async (client) => {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
    );
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  });
}
