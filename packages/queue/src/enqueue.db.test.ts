import { describe, expect, test } from '@jest/globals';
import { findOperation } from '@paddock/api/operations/operation';
import { untilBlocked } from '@paddock/testing/sessions';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { type AskedTask, enqueue, enqueueAsked } from './enqueue.ts';
import { done, type Handler, snooze } from './kind.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';

const queue = useQueue();
const { database } = queue;

const claim = (kind: string) => queue.claim({ [kind]: 5 });

describe('enqueue', () => {
  test('writes all fields, and the limits it was given (D4, D5)', async () => {
    const { db } = database;
    const subject = { type: 'app', id: '7', name: 'our app' };
    await queue.enqueue({
      kind: 'a',
      subject,
      payload: { appId: 7 },
      dueInMs: 3_600_000,
      maxAttempts: 2,
      requestedBy: 'me',
      deliveryGuid: 'g',
    });
    const rows = await db
      .selectFrom('tasks')
      .selectAll()
      .select(sql<number>`extract(epoch from due_at - queued_at)::integer`.as('wait'))
      .execute();
    const subjectOf = { subject_type: 'app', subject_id: '7', subject_name: 'our app' };
    const whose = { origin: 'MANUAL', requested_by: 'me', delivery_guid: 'g', status: 'queued' };
    const limits = { max_attempts: 2, wait: 3_600 };
    const row = { kind: 'a', ...subjectOf, payload: { appId: 7 }, ...whose, ...limits };
    expect(rows).toMatchObject([row]);
  });

  test('a queued task of the same kind and subject replaces the new one (D14)', async () => {
    const [first] = await queue.enqueue(task('a', 'x'));
    const second = await queue.enqueue(task('a', 'x'), task('a', 'y'), task('b', 'x'));
    expect(second).toContainEqual({ id: first?.id, existed: true });
    expect(second.filter(({ existed }) => !existed)).toHaveLength(2);
  });

  test('of several in one call for one subject one is made, due when the earliest is (D14)', async () => {
    const both = [task('a', 'x', { dueInMs: 60_000 }), task('a', 'x')];
    expect(await queue.enqueue(...both)).toHaveLength(1);
    expect(await claim('a')).toHaveLength(1);
  });

  test('one that waits for its time is due when the earliest is; one that was put off stays so (D14, P6)', async () => {
    await queue.enqueue(task('a', 'x', { dueInMs: 3_600_000 }));
    const [sooner] = await queue.enqueue(task('a', 'x'));
    expect(await claim('a')).toMatchObject([{ id: sooner?.id }]);
    await sql`update tasks set status = 'queued', locked_by = null, locked_until = null, started_at = null,
      due_at = now() + interval '1 hour', failures = '[{"reason": "snooze"}]'`.execute(database.db);
    expect(await queue.enqueue(task('a', 'x'))).toEqual([{ id: sooner?.id, existed: true }]);
    expect(await claim('a')).toEqual([]);
  });

  test('a running task gets one successor, which is claimed only after it (D14)', async () => {
    const [first] = await queue.enqueue(task('a', 'x'));
    await claim('a');
    const [second] = await queue.enqueue(task('a', 'x'));
    const [third] = await queue.enqueue(task('a', 'x'));
    expect(second).toMatchObject({ existed: false });
    expect(second?.id).not.toBe(first?.id);
    expect(third).toMatchObject({ existed: true, id: second?.id });
    expect(await claim('a')).toEqual([]);
  });

  test('a queued task that replaces the new one cannot start before the enqueuer has committed (D14)', async () => {
    const { db } = database;
    const [first] = await queue.enqueue(task('a', 'x'));
    await db.transaction().execute(async (trx) => {
      expect(await enqueue(trx, [task('a', 'x')])).toEqual([{ id: first?.id, existed: true }]);
      expect(await claim('a')).toEqual([]);
    });
    expect(await claim('a')).toHaveLength(1);
  });

  test('a task that is claimed while the enqueuer waits for it does not replace the new one (D14)', async () => {
    const { db } = database;
    const [first] = await queue.enqueue(task('a', 'x'));
    const claiming = await db.startTransaction().execute();
    await queue.claim({ a: 1 }, {}, claiming);
    const enqueued = queue.enqueue(task('a', 'x'));
    await untilBlocked(database.db);
    await claiming.commit().execute();
    expect(await enqueued).toMatchObject([{ existed: false }]);
    expect((await enqueued)[0]?.id).not.toBe(first?.id);
  });

  test('waits for another enqueuer of the same tasks and never in a circle, with both in any order (D14)', async () => {
    const { db } = database;
    const { enqueued } = await db.transaction().execute(async (trx) => {
      await enqueue(trx, [task('a', 'x')]);
      const other = queue.enqueue(task('a', 'y'), task('a', 'x'));
      other.catch(() => undefined);
      await untilBlocked(database.db);
      await enqueue(trx, [task('a', 'y')]);
      return { enqueued: other };
    });
    expect((await enqueued).map(({ existed }) => existed)).toEqual([true, true]);
  });

  test.each([Infinity, Number.NaN])('refuses to wait for %d ms', async (dueInMs) => {
    const refused = { code: '22P02' };
    await expect(queue.enqueue(task('a', 'x', { dueInMs }))).rejects.toMatchObject(refused);
    expect(await claim('a')).toEqual([]);
  });

  test('stores hostile text, and replaces characters that JSONB cannot hold', async () => {
    await queue.enqueue(task('a', 'x\0y', { payload: { login: 'a\0b\uD800' } }));
    const payload = { login: 'a\uFFFDb\uFFFD' };
    expect(await claim('a')).toMatchObject([{ subjectId: 'x\uFFFDy', payload }]);
  });
});

const askFor = (requestedBy: string, more: Partial<AskedTask> = {}) =>
  database.db
    .transaction()
    .execute((trx) =>
      enqueueAsked(trx, { kind: 'a', subject: { type: 'worker', id: 'x' }, requestedBy, ...more }),
    );
const tasks = () =>
  database.db
    .selectFrom('tasks')
    .select(['id', 'origin', 'requested_by', 'payload'])
    .select(sql<boolean>`due_at <= now()`.as('is_due'))
    .execute();
const since = (hour: number) => `2026-01-31T0${hour}:00:00.000Z`;

describe('what a person asks for (F5)', () => {
  test('is a task of theirs, due at once', async () => {
    const id = await askFor('ada', { payload: { b: 1 }, maxAttempts: 2 });
    expect(await tasks()).toEqual([
      { id, origin: 'MANUAL', requested_by: 'ada', payload: { b: 1 }, is_due: true },
    ]);
  });

  test('is served by a task that is queued for later, which becomes theirs and wakes its executor', async () => {
    const ran: string[] = [];
    queue.start(
      { a: { slots: 1, handler: ({ id }) => (ran.push(id), Promise.resolve(done())) } },
      { pollMs: 3_600_000 },
    );
    const [queued] = await queue.enqueue(task('a', 'x', { dueInMs: 3_600_000 }));
    await queue.untilListening();
    const id = await askFor('ada');
    expect(id).toBe(queued?.id);
    await waitFor('the run', () => ran.length > 0);
    await waitFor('its operation', async () => {
      const found = await findOperation(database.db, id);
      return found?.status === 'OK' && found.origin === 'MANUAL' && found.requestedBy === 'ada';
    });
  });

  test('stays whose it was when others ask for it too', async () => {
    const ids = [await askFor('ada'), await askFor('grace'), await askFor('linus')];
    expect(new Set(ids).size).toBe(1);
    expect(await tasks()).toMatchObject([{ id: ids[0], requested_by: 'ada' }]);
    await queue.enqueue(task('a', 'x'));
    expect(await tasks()).toMatchObject([{ id: ids[0], origin: 'MANUAL' }]);
  });

  test('is another task while one runs, and one with it if that has to run again', async () => {
    const [first] = await queue.enqueue(task('a', 'x', { payload: { since: since(5) } }));
    const asked: string[] = [];
    const handler: Handler = async () => {
      if (asked.length === 0) asked.push(await askFor('ada', { payload: { since: since(3) } }));
      return snooze(3_600_000, 'a rate limit');
    };
    // The run that comes back to the queue is due at once, as the request was.
    expect(await runDueTasks({ db: database.db, kinds: { a: { slots: 1, handler } } })).toBe(2);
    const merged = { status: 'OK', output: { mergedInto: first?.id } };
    expect(await findOperation(database.db, asked[0] ?? '')).toMatchObject(merged);
    const adas = { origin: 'MANUAL', requested_by: 'ada', payload: { since: since(3) } };
    expect(await tasks()).toMatchObject([{ id: first?.id, ...adas }]);
  });

  test.each([
    ['the earlier instant', { since: since(5) }, { since: since(3) }, { since: since(3) }],
    ['the instant of the one that has one', {}, { since: since(3) }, { since: since(3) }],
    [
      'what else the first says',
      { since: since(5), dryRun: true },
      { since: since(3) },
      { since: since(3), dryRun: true },
    ],
    ['what they both say', { since: since(3), b: 1 }, { since: since(3), b: 1 }, null],
    ['the first payload otherwise', { since: since(3) }, { b: 2 }, { since: since(3) }],
  ])('and another one for its subject have %s', async (_what, one, other, expected) => {
    const wanted = { payload: expected ?? one };
    await askFor('ada', { payload: one });
    await askFor('grace', { payload: other });
    expect(await tasks()).toMatchObject([{ ...wanted, requested_by: 'ada' }]);
    await sql`truncate tasks`.execute(database.db);
    await queue.enqueue(task('a', 'x', { payload: one }));
    const [again] = await queue.enqueue(task('a', 'x', { payload: other }));
    expect(again).toMatchObject({ existed: true });
    expect(await tasks()).toMatchObject([wanted]);
  });
});
