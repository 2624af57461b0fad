import { describe, expect, test } from '@jest/globals';
import { findOperation } from '@paddock/api/operations/operation';
import { clientConfig } from '@paddock/db/connection/connect';
import { listen } from '@paddock/db/connection/listen';
import { taskEventChannel } from '@paddock/db/connection/schema-name';
import { Secret } from '@paddock/runtime/secret';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { enqueue, enqueueAlone } from './enqueue.ts';
import { done, type Kinds, type Outcome, poison, snooze } from './kind.ts';
import { purgeOperations, readTaskCounts, rollUpTaskCounts } from './operations.ts';
import { readQueueDepth } from './queue-depth.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';

const queue = useQueue();
const { database } = queue;

const enqueueOne = async (id: string) =>
  (await queue.enqueue(task('a', id, { requestedBy: 'me' })))[0]?.id ?? '';
const saying = (outcome: Outcome) => ({ slots: 5, handler: () => Promise.resolve(outcome) });
const run = (outcome: Outcome) => runDueTasks({ db: database.db, kinds: { a: saying(outcome) } });

test('an operation is found through the whole life of its task (F1)', async () => {
  const { db } = database;
  const id = await enqueueOne('x');
  const subject = { type: 'worker', id: 'x', name: null };
  const whose = { id, kind: 'a', origin: 'MANUAL', requestedBy: 'me', status: 'QUEUED', subject };
  const nothing = {
    attempt: 0,
    maxAttempts: 5,
    startedAt: null,
    finishedAt: null,
    output: null,
    failure: null,
  };
  expect(await findOperation(db, id)).toMatchObject({
    ...whose,
    ...nothing,
    nextRunAt: expect.any(Date),
  });
  await run(snooze(60_000, 'at the rate limit'));
  const failure = { reason: 'snooze', message: 'at the rate limit' };
  const waits = { status: 'QUEUED', attempt: 0, nextRunAt: expect.any(Date), failure };
  expect(await findOperation(db, id)).toMatchObject(waits);
  await sql`update tasks set due_at = now()`.execute(db);
  await queue.claim();
  const runs = { status: 'RUNNING', attempt: 1, startedAt: expect.any(Date), nextRunAt: null };
  expect(await findOperation(db, id)).toMatchObject(runs);
  await sql`update tasks set locked_until = now()`.execute(db);
  await run(done({ made: 1 }));
  const ended = { finishedAt: expect.any(Date), nextRunAt: null, output: { made: 1 } };
  expect(await findOperation(db, id)).toMatchObject({ status: 'OK', ...ended, failure: null });
});

test('an operation whose time is over is not found, and removed in batches, any number of times; the counts stay (D9, F1, F2, F3)', async () => {
  const { db } = database;
  const ids = [];
  for (const id of ['x', 'y', 'z', 'kept']) ids.push(await enqueueOne(id));
  await run(done());
  await sql`update operations set expires_at = now() - interval '1 s' where subject_id <> 'kept'`.execute(
    db,
  );
  expect(await findOperation(db, ids[0] ?? '')).toBeUndefined();
  expect(await purgeOperations(db, 2)).toBe(2);
  expect(await purgeOperations(db, 2)).toBe(1);
  expect(await purgeOperations(db, 2)).toBe(0);
  expect(await db.selectFrom('operations').select('subject_id').execute()).toEqual([
    { subject_id: 'kept' },
  ]);
  expect(await db.selectFrom('task_counts').select('ended').execute()).toEqual([{ ended: 4 }]);
});

test('the depth of the queue: waiting and due tasks by kind, and how long the oldest has been due (D8)', async () => {
  const { db } = database;
  await queue.enqueue(task('a', 'x'), task('a', 'later', { dueInMs: 60_000 }), task('b', 'x'));
  await queue.claim({ b: 1 });
  await sql`update tasks set due_at = now() - interval '90 s' where subject_id = 'x'`.execute(db);
  const depths = await readQueueDepth(db);
  expect(depths).toEqual([
    { kind: 'a', queued: 2, due: 1, oldestDueSeconds: expect.closeTo(90, -1) },
    { kind: 'b', queued: 0, due: 0, oldestDueSeconds: 0 },
  ]);
});

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const all = { from: new Date(0), to: new Date(Date.now() + DAY), step: 'hour' } as const;
const append = (hoursAgo: number, kind: string, outcome: 'OK' | 'ERROR', ended: number) =>
  sql`insert into task_counts (hour, kind, outcome, failure_reason, ended)
      select date_trunc('hour', now(), 'UTC') - ${hoursAgo} * interval '1 hour', ${kind}, ${outcome},
             case ${outcome} when 'ERROR' then 'attempts' end, ${ended}`.execute(database.db);
const rowsLeft = async () =>
  (await database.db.selectFrom('task_counts').selectAll().execute()).length;

describe('the counts of ended tasks (F3)', () => {
  test('have kind, outcome and reason of the tasks settled in the present hour', async () => {
    const { db } = database;
    await enqueueAlone(db, [task('good', '1'), task('good', '2'), task('bad', '3')]);
    await runDueTasks({ db, kinds: { good: saying(done()), bad: saying(poison('no worker')) } });
    const good = { kind: 'good', outcome: 'OK', failureReason: null, ended: 2 };
    const bad = { kind: 'bad', outcome: 'ERROR', failureReason: 'poison', ended: 1 };
    expect(await readTaskCounts(db, all)).toMatchObject([bad, good]);
    expect(await readTaskCounts(db, { ...all, kind: 'good' })).toMatchObject([good]);
    expect(await readTaskCounts(db, { ...all, to: new Date(Date.now() - 2 * HOUR) })).toEqual([]);
  });

  test('are the same before and after a roll-up, however often and by however many at once it is done', async () => {
    const { db } = database;
    for (let n = 1; n <= 5; n++) {
      await append(0, 'a', 'OK', n);
      await append(1, 'a', 'OK', n);
      await append(1, 'a', 'ERROR', n);
      await append(30, 'b', 'OK', n);
    }
    const before = await readTaskCounts(db, all);
    expect(before.map(({ ended }) => ended)).toEqual([15, 15, 15, 15]);
    const passes = await Promise.all(Array.from({ length: 4 }, () => rollUpTaskCounts(db)));
    expect(passes.reduce((sum, { merged }) => sum + merged, 0)).toBe(15);
    expect(await readTaskCounts(db, all)).toEqual(before);
    // The present hour is still being written; each of the others has one row now.
    expect(await rowsLeft()).toBe(5 + 3);
    await append(1, 'a', 'OK', 100);
    expect(await rollUpTaskCounts(db)).toEqual({ merged: 2, removed: 0 });
    expect(await readTaskCounts(db, { ...all, kind: 'a' })).toMatchObject([
      { ended: 15 },
      { ended: 115 },
      { ended: 15 },
    ]);
  });

  test('can be read by day, and go after thirteen months', async () => {
    const { db } = database;
    await append(24 * 200, 'a', 'OK', 1);
    await append(24 * 200 + 24, 'a', 'OK', 2);
    await append(24 * 420, 'a', 'OK', 4);
    const byDay = async () =>
      (await readTaskCounts(db, { ...all, step: 'day' })).map(({ ended }) => ended);
    expect(await byDay()).toEqual([4, 2, 1]);
    expect(await rollUpTaskCounts(db)).toEqual({ merged: 0, removed: 1 });
    expect(await byDay()).toEqual([2, 1]);
  });
});

test('notifications come with the commit, name the kind, and do not come for a rollback or a later task (D3)', async () => {
  const { db, url, schema } = database;
  const heard: (string | undefined)[] = [];
  const stop = new AbortController();
  const listening = listen(
    {
      config: clientConfig({ url, schema, applicationName: 'test-listener' }),
      channels: [taskEventChannel(schema)],
      onWake: (_channel, payload) => void heard.push(payload),
      onError: (error) => {
        throw error;
      },
      heartbeatMs: 60_000,
    },
    stop.signal,
  );
  await waitFor('the listener', () => heard.length === 1);
  const undone = db.transaction().execute(async (trx) => {
    await enqueue(trx, [task('undone', 'x')]);
    throw new Error('no');
  });
  await expect(undone).rejects.toThrow('no');
  await queue.enqueue(task('later', 'x', { dueInMs: 60_000 }));
  await queue.enqueue(task('a', 'x'), task('a', 'y'));
  await waitFor('the first notification', () => heard.length === 2);
  // The queued task was locked and so hidden from every reader meanwhile.
  await queue.enqueue(task('a', 'x'));
  await waitFor('the second notification', () => heard.length === 3);
  stop.abort();
  await listening;
  expect(heard).toEqual([undefined, 'a', 'a']);
});

test('secrets are in no table, with anything that handlers say, return and throw (D1)', async () => {
  const { db } = database;
  const known = 'k9-known-to-the-process';
  const minted = 'ghs_16C7e42F292c6912E7710c838347Ae178B4a';
  const text = `POST failed with ${known} and ${minted}`;
  const kinds: Kinds = {
    thrown: {
      slots: 1,
      handler: () => Promise.reject(new Error(text, { cause: new Error(text) })),
    },
    text: {
      slots: 1,
      handler: () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what this test is about
        throw text;
      },
    },
    poisoned: saying(poison(text)),
    snoozed: saying(snooze(1_000, text)),
    output: saying(done({ text, deep: [new Secret(known)], [known]: 1 })),
  };
  const payload = { held: new Secret(known) };
  await queue.enqueue(...Object.keys(kinds).map((kind) => task(kind, 'x', { payload })));
  expect(await runDueTasks({ db, kinds, secrets: [new Secret(known)] })).toBe(5);
  const { rows } = await sql<{ everything: string }>`
      select (select string_agg(t::text, ' ') from tasks t) || (select string_agg(o::text, ' ') from operations o) as everything`.execute(
    db,
  );
  expect(rows[0]?.everything).toContain('POST failed with [secret] and [secret]');
  expect(rows[0]?.everything).not.toContain(known);
  expect(rows[0]?.everything).not.toContain(minted);
});
