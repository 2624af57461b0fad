import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clientConfig } from '@paddock/db/connection/connect';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { enqueueNow, executorsOf, task } from './scenes/executor-under-test.scene.ts';
import type { ExecutorOptions } from './executor.ts';
import type { Handler } from './kind.ts';
import { done, snooze } from './outcome.ts';

const database = useTestDatabase();
const executors = executorsOf();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));
afterEach(executors.stopAll);

const start = (handler: Handler, overrides: Partial<ExecutorOptions> = {}) =>
  executors.start(database, { a: { handler, slots: 4 } }, overrides);
const tasks = () => database.db.selectFrom('tasks').selectAll().execute();
const operations = () => database.db.selectFrom('operations').selectAll().execute();
const poll = { pollMs: 200 };
/** A schema that no notification names: an executor with it gets none. */
const unheard = { schema: 'without_senders' };
/** A way to the database on which the connection that listens can be cut for good. */
async function startRelay() {
  const listeners: Socket[] = [];
  const server = createServer((socket) => {
    const upstream = connect(Number(port === '' ? 5432 : port), hostname);
    for (const end of [socket, upstream])
      end.on('error', () => undefined).on('close', () => (socket.destroy(), upstream.destroy()));
    socket.on('data', (sent) => void (sent.includes('listen "') && listeners.push(socket)));
    socket.pipe(upstream).pipe(socket);
  });
  const { hostname, port } = new URL(database.url);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const url = new URL(database.url);
  url.host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : ''}`;
  return {
    url: url.href,
    isListening: () => listeners.length > 0,
    cut: () => {
      server.close();
      for (const socket of listeners) socket.destroy();
    },
  };
}

describe('with a listening connection that is terminated and cannot be had again', () => {
  test('work starts with the poll (D3)', async () => {
    const relay = await startRelay();
    const { url, schema, db } = { ...database, url: relay.url };
    let runs = 0;
    const config = clientConfig({ url, schema, applicationName: 'relayed' });
    const { told } = start(() => (runs++, Promise.resolve(done())), { ...poll, config });
    const sessions = async () =>
      (await sql`select from pg_stat_activity where application_name = 'relayed'`.execute(db)).rows
        .length;
    await waitFor(
      'its own two connections',
      async () => relay.isListening() && (await sessions()) === 2,
    );
    relay.cut();
    await waitFor(
      'two vain attempts to listen',
      () => told.failed.filter(({ what }) => what === 'listen').length >= 2,
    );
    for (const nth of [1, 2, 3]) {
      await enqueueNow(db, task('a', 'x'));
      await waitFor('the task', () => runs === nth);
    }
    // The other one renews claims, and goes on.
    await waitFor('the one that listened to end', async () => (await sessions()) === 1);
    expect(told.failed.filter(({ what }) => what !== 'listen')).toEqual([]);
  });
});

describe('with no notification at all', () => {
  beforeAll(() => sql`drop trigger tasks_inserted on tasks`.execute(database.db));

  test('everything happens, each step with the poll (D3)', async () => {
    const { db } = database;
    const runs: { subject: string; atMs: number }[] = [];
    const atMsOf = (subject: string, nth = 0) =>
      runs.filter((run) => run.subject === subject)[nth]?.atMs;
    const release = Promise.withResolvers<void>();
    const handler: Handler = async ({ subject: { id } }) => {
      const nth = runs.push({ subject: id, atMs: performance.now() });
      const earlier = runs.slice(0, nth - 1).filter(({ subject }) => subject === id).length;
      switch (id) {
        case 'fails':
          if (earlier === 0) throw new Error('502');
          return done();
        case 'waits':
          return earlier === 0 ? snooze(1, 'at the limit') : done();
        case 'parent':
          return done(undefined, [task('a', 'follow-on')]);
        case 'woken':
          if (earlier === 0) await release.promise;
          return done();
        default:
          return done();
      }
    };
    start(handler, { ...poll, ...unheard, backoff: { firstMs: 1, longestMs: 1 } });
    await enqueueNow(db, task('a', 'first'));
    await waitFor('the executor to run', () => atMsOf('first') !== undefined);

    await enqueueNow(
      db,
      ...['plain', 'fails', 'waits', 'parent', 'woken'].map((subject) => task('a', subject)),
    );
    for (const [subject, nth] of [
      ['plain', 0],
      ['fails', 1],
      ['waits', 1],
      ['follow-on', 0],
      ['woken', 0],
    ] as const) {
      await waitFor(`run ${nth + 1} of ${subject}`, () => atMsOf(subject, nth));
    }
    await enqueueNow(db, task('a', 'woken'));
    release.resolve();
    await waitFor('the successor', () => atMsOf('woken', 1));

    const later = performance.now();
    await enqueueNow(db, task('a', 'later', { dueInMs: 300 }));
    const late = (await waitFor('the later task', () => atMsOf('later'))) - later;
    expect(late).toBeGreaterThanOrEqual(290);

    await waitFor('the queue to be empty', async () => (await tasks()).length === 0);
    expect((await operations()).filter(({ status }) => status !== 'OK')).toEqual([]);
  });

  test('a task whose executor is gone is taken over (D3, D5)', async () => {
    const { db } = database;
    await enqueueNow(db, task('a', 'x'));
    await sql`update tasks set status = 'running', attempt = 1, fence = 1, started_at = now(), locked_until = now() + interval '1 s', locked_by = 'gone'`.execute(
      db,
    );
    const { told } = start(() => Promise.resolve(done()), { ...poll, ...unheard, claimMs: 1_000 });
    await waitFor('the take-over', () => told.processed.length === 1);
    expect(told.takenOver).toMatchObject([{ crashes: 1 }]);
  });
});
