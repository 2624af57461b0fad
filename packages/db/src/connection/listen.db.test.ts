import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { clientConfig } from './connect.ts';
import { listen } from './listen.ts';

const database = useTestDatabase();
let stop: AbortController;
let listening: Promise<void>;
let woken: string[];
let errors: unknown[];

const APPLICATION = 'paddock-test-listener';
const CONNECTED = 'connected';

// With a minute no answer comes too late, however long this process stops.
async function start(heartbeatMs = 60_000) {
  stop = new AbortController();
  woken = [];
  errors = [];
  listening = listen(
    {
      config: clientConfig({
        url: database.url,
        schema: database.schema,
        applicationName: APPLICATION,
      }),
      channels: ['one', 'two'],
      onWake: (channel, payload) =>
        woken.push(channel === undefined ? CONNECTED : `${channel} ${payload ?? ''}`),
      onError: (error) => errors.push(error),
      heartbeatMs,
    },
    stop.signal,
  );
  await waitFor('the first connection', () => woken.includes(CONNECTED));
}
async function end() {
  stop.abort();
  await listening;
  await sessionsToEnd();
}
beforeEach(() => start());
afterEach(end);

const setReadOnly = (isReadOnly: boolean) =>
  sql`alter database ${sql.id(new URL(database.url).pathname.slice(1))} set default_transaction_read_only = ${sql.lit(isReadOnly)}`.execute(
    database.db,
  );
const notify = (channel: string, payload: string) =>
  sql`select pg_notify(${channel}, ${payload})`.execute(database.db);
const sessions = async () =>
  (
    await sql<{ pid: number; state: string; xact: Date | null }>`
    select pid, state, xact_start as xact from pg_stat_activity where application_name = ${APPLICATION}`.execute(
      database.db,
    )
  ).rows;
const sessionsToEnd = () =>
  waitFor('the sessions to end', async () => (await sessions()).length === 0);
const cut = () =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${APPLICATION}`.execute(
    database.db,
  );

describe('listening (A7)', () => {
  test('hands on the notifications of its channels, and no others', async () => {
    await notify('one', 'a');
    await notify('three', 'b');
    await notify('two', 'c');
    await waitFor('the last notification', () => woken.includes('two c'));
    expect(woken).toEqual([CONNECTED, 'one a', 'two c']);
  });

  test('connects again when the server cuts it, wakes for missed notifications, and keeps listening', async () => {
    await cut();
    await waitFor(
      'the second connection',
      () => woken.filter((message) => message === CONNECTED).length === 2,
    );
    expect(errors).toHaveLength(1);
    await notify('two', 'after');
    await waitFor('the notification', () => woken.includes('two after'));
  });

  test('leaves a server that takes no writes at once: a move to another may have left it behind', async () => {
    await end();
    await setReadOnly(true);
    const started = start();
    try {
      await waitFor('the first failure', () => errors.length > 0);
    } finally {
      await setReadOnly(false);
    }
    await started;
    const why = new Error('the listening connection takes no writes');
    expect(errors).toEqual(errors.map(() => why));
  });
});
