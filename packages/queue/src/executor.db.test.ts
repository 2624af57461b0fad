import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { enqueueNow, executorsOf, task } from './scenes/executor-under-test.scene.ts';
import type { ExecutorOptions } from './executor.ts';
import type { Handler, Kinds } from './kind.ts';
import { done, poison, snooze } from './outcome.ts';

const database = useTestDatabase();
const executors = executorsOf();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));
afterEach(executors.stopAll);

const start = (kinds: Kinds, overrides: Partial<ExecutorOptions> = {}) =>
  executors.start(database, kinds, overrides);
const kindOf = (handler: Handler, slots = 4) => ({ a: { handler, slots } });
const operations = () => database.db.selectFrom('operations').selectAll().execute();
const tasks = () => database.db.selectFrom('tasks').selectAll().execute();
const listeners = async () => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and application_name like 'executor-%' and query ~* '^(listen|select 1)'`.execute(
    database.db,
  );
  return rows;
};
const listening = () =>
  waitFor('the executor to listen', async () => (await listeners()).length > 0);

describe('an executor', () => {
  test('runs due tasks, and those that come while it runs, woken by the notification alone (D3)', async () => {
    const { db } = database;
    const seen: string[] = [];
    const handler: Handler = (one) => {
      seen.push(one.subject.id);
      return Promise.resolve(done());
    };
    await enqueueNow(db, task('a', 'before'));
    start(kindOf(handler), { pollMs: 3_600_000 });
    await waitFor('the first task', () => seen.includes('before'));
    await listening();
    await enqueueNow(db, task('a', 'after'));
    await waitFor('the second task', () => seen.includes('after'));
    expect(seen).toEqual(['before', 'after']);
  });

  test('finds a task without a notification: one due later, with its next look (D3)', async () => {
    const seen: string[] = [];
    start(
      kindOf((one) => (seen.push(one.subject.id), Promise.resolve(done()))),
      { pollMs: 50 },
    );
    await enqueueNow(database.db, task('a', 'later', { dueInMs: 100 }));
    await waitFor('the task', () => seen.length === 1);
    expect(seen).toEqual(['later']);
  });

  test('claims no task that needs a service that is away, and all of them at once when woken (C11)', async () => {
    const { db } = database;
    let isAway = true;
    const seen: string[] = [];
    const handler: Handler = (one) => {
      seen.push(one.subject.id);
      return Promise.resolve(done());
    };
    const kinds: Kinds = {
      a: { handler, slots: 4 },
      b: { handler, slots: 4, needs: ['github'] },
      c: { handler, slots: 4, needs: ['cluster', 'github'] },
    };
    const { executor } = start(kinds, {
      pollMs: 3_600_000,
      isAway: (service) => service === 'github' && isAway,
    });
    await listening();
    await enqueueNow(db, task('b', 'b'), task('c', 'c'), task('a', 'a'));
    await waitFor('the task that needs nothing', async () => (await operations()).length === 1);
    expect(seen).toEqual(['a']);
    expect((await tasks()).map(({ status, attempt }) => [status, attempt])).toEqual([
      ['queued', 0],
      ['queued', 0],
    ]);
    isAway = false;
    executor.wake();
    await waitFor('the others', async () => (await operations()).length === 3);
    expect(seen.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('each task runs once among several executors, and none runs beside its twin (D2, D14)', async () => {
    const { db } = database;
    const runs = new Map<string, number>();
    const now = new Set<string>();
    let overlaps = 0;
    const handler: Handler = async ({ subject }) => {
      if (now.has(subject.id)) overlaps++;
      now.add(subject.id);
      runs.set(subject.id, (runs.get(subject.id) ?? 0) + 1);
      await sql`select 1`.execute(db);
      now.delete(subject.id);
      return done();
    };
    const replicas = [start(kindOf(handler)), start(kindOf(handler)), start(kindOf(handler))];
    const names = Array.from({ length: 120 }, (_, n) => `w-${n}`);
    for (let n = 0; n < names.length; n += 20)
      await enqueueNow(db, ...names.slice(n, n + 20).map((name) => task('a', name)));
    await waitFor('all to be done', async () => (await operations()).length === 120);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    for (let n = 0; n < 10; n++) await enqueueNow(db, task('a', 'twin'));
    await waitFor('the queue to be empty', async () => (await tasks()).length === 0);
    expect(overlaps).toBe(0);
    expect(replicas.flatMap(({ told }) => told.lost)).toEqual([]);
  });

  test('a wake-up during a run causes another run afterwards (D14)', async () => {
    const release = Promise.withResolvers<void>();
    const values: unknown[] = [];
    start(
      kindOf(async (one) => {
        values.push(one.payload);
        if (values.length === 1) await release.promise;
        return done();
      }),
    );
    await enqueueNow(database.db, task('a', 'x', { payload: { n: 1 } }));
    await waitFor('the first run', () => values.length === 1);
    await enqueueNow(database.db, task('a', 'x', { payload: { n: 2 } }));
    release.resolve();
    await waitFor('the second run', () => values.length === 2);
    expect(values).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('never runs more tasks of a kind than it has slots, and a full kind does not hold up another (D7, D11)', async () => {
    const release = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const slow: Handler = async () => {
      most = Math.max(most, ++running);
      await release.promise;
      running--;
      return done();
    };
    const seen: string[] = [];
    start({
      slow: { handler: slow, slots: 2 },
      quick: { handler: (one) => (seen.push(one.id), Promise.resolve(done())), slots: 1 },
    });
    await enqueueNow(database.db, ...Array.from({ length: 6 }, (_, n) => task('slow', `w-${n}`)));
    await waitFor('both slots to be taken', () => running === 2);
    await enqueueNow(database.db, task('quick', 'x'));
    await waitFor('the quick one', () => seen.length === 1);
    release.resolve();
    await waitFor('all to be done', async () => (await operations()).length === 7);
    expect(most).toBe(2);
  });

  test('leaves a kind that it does not know queued, at no cost (D11)', async () => {
    await enqueueNow(database.db, task('unknown', 'x'), task('a', 'x'));
    start(kindOf(() => Promise.resolve(done())));
    await waitFor('the known kind', async () => (await operations()).length === 1);
    expect(await tasks()).toMatchObject([
      { kind: 'unknown', status: 'queued', attempt: 0, crashes: 0 },
    ]);
  });

  test('runs nothing with a concurrency of 0 (D7)', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    const idle = start(
      kindOf(() => Promise.resolve(done())),
      { concurrencyPercent: 0, pollMs: 10 },
    );
    await listening();
    idle.executor.wake();
    await idle.stop();
    expect(await tasks()).toMatchObject([{ status: 'queued', attempt: 0 }]);
  });

  test('the fifth failed run ends the task, with all five on record (D4)', async () => {
    const { told } = start(
      kindOf(() => Promise.reject(new Error('502 from GitHub'))),
      { pollMs: 20, backoff: { firstMs: 1, longestMs: 1 } },
    );
    await enqueueNow(database.db, task('a', 'x'));
    await waitFor('the end', async () => (await operations()).length === 1);
    const [operation] = await operations();
    expect(operation).toMatchObject({
      status: 'ERROR',
      failure_reason: 'attempts',
      attempt: 5,
      failure_message: '502 from GitHub',
    });
    expect(operation?.failures.map(({ attempt, reason }) => [attempt, reason])).toEqual(
      [1, 2, 3, 4, 5].map((n) => [n, 'error']),
    );
    expect(told.processed.map(({ outcome }) => outcome)).toEqual([
      'retry',
      'retry',
      'retry',
      'retry',
      'failed',
    ]);
  });

  test('poison and snooze end a run as they should, and do not stop the next (D4)', async () => {
    const { told } = start(
      kindOf((one) =>
        Promise.resolve(one.subject.id === 'bad' ? poison('gone') : snooze(60_000, 'later')),
      ),
    );
    await enqueueNow(database.db, task('a', 'bad'), task('a', 'wait'));
    await waitFor('both', () => told.processed.length === 2);
    expect(told.processed.map(({ outcome }) => outcome).toSorted()).toEqual(['poison', 'snoozed']);
    expect(await tasks()).toMatchObject([{ subject_id: 'wait', attempt: 0, status: 'queued' }]);
  });

  test('a handler that never settles frees its slot at the timeout, and its late result is kept out (D6, D13)', async () => {
    const late: (() => void)[] = [];
    const { told } = start(
      {
        a: {
          slots: 1,
          timeoutMs: 50,
          handler: (one) =>
            one.subject.id === 'quick'
              ? Promise.resolve(done())
              : new Promise((resolve) => late.push(() => resolve(done({ late: true })))),
        },
      },
      { pollMs: 20 },
    );
    await enqueueNow(database.db, task('a', 'hangs', { maxAttempts: 1 }));
    await waitFor('the first run', () => late.length === 1);
    await enqueueNow(database.db, task('a', 'quick'));
    await waitFor('both', () => told.processed.length === 2);
    for (const settle of late) settle();
    expect(await operations()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          subject_id: 'hangs',
          status: 'ERROR',
          failure_reason: 'timeout',
          output: null,
        }),
        expect.objectContaining({ subject_id: 'quick', status: 'OK' }),
      ]),
    );
  });

  test('a result that cannot be stored is a failed run, and other ended runs are settled (D4)', async () => {
    const release = Promise.withResolvers<void>();
    const { told } = start(
      kindOf(async (one) => {
        await release.promise;
        return one.subject.id === 'bad'
          ? done({}, [task('next', 'x', { maxAttempts: Number.NaN })])
          : done();
      }),
    );
    await enqueueNow(database.db, task('a', 'bad'), task('a', 'good'), task('a', 'fine'));
    await waitFor('all three to run', async () =>
      (await tasks()).every(({ status }) => status === 'running'),
    );
    release.resolve();
    await waitFor('all three to be settled', () => told.processed.length === 3);
    expect(await tasks()).toMatchObject([
      {
        subject_id: 'bad',
        status: 'queued',
        failures: [{ message: expect.stringContaining('cannot be stored') }],
      },
    ]);
    expect(told.failed).toEqual([]);
  });
});
