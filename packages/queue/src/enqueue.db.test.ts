import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { untilBlocked } from '@paddock/testing/until-blocked';
import { sql } from 'kysely';
import { claimTasks } from './claim-tasks.ts';
import { enqueue } from './enqueue.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

const claim = (kind: string, slots = 1) =>
  claimTasks(database.db, {
    holder: 'h',
    slots: { [kind]: slots },
    takeOver: false,
    claimMs: 60_000,
    keepFailedMs: 1_000,
  });

describe('enqueue', () => {
  test('writes all fields, and the limits it was given (D4, D5)', async () => {
    const { db } = database;
    const subject = { type: 'app', id: '7', name: 'our app' };
    await enqueueNow(db, {
      kind: 'a',
      subject,
      payload: { appId: 7 },
      dueInMs: 3_600_000,
      maxAttempts: 2,
      maxCrashes: 1,
      origin: 'MANUAL',
      requestedBy: 'me',
      deliveryGuid: 'g',
    });
    const rows = await db
      .selectFrom('tasks')
      .selectAll()
      .select(sql<number>`extract(epoch from due_at - queued_at)::integer`.as('wait'))
      .execute();
    expect(rows).toMatchObject([
      {
        kind: 'a',
        subject_type: 'app',
        subject_id: '7',
        subject_name: 'our app',
        payload: { appId: 7 },
        max_attempts: 2,
        max_crashes: 1,
        origin: 'MANUAL',
        requested_by: 'me',
        delivery_guid: 'g',
        status: 'queued',
        wait: 3_600,
      },
    ]);
  });

  test('a queued task of the same kind and subject replaces the new one (D14)', async () => {
    const { db } = database;
    const [first] = await enqueueNow(db, task('a', 'x'));
    const second = await enqueueNow(db, task('a', 'x'), task('a', 'y'), task('b', 'x'));
    expect(second).toContainEqual({ id: first?.id, existed: true });
    expect(second.filter(({ existed }) => !existed)).toHaveLength(2);
  });

  test('of several in one call for one subject one is made, due when the earliest is (D14)', async () => {
    const { db } = database;
    expect(await enqueueNow(db, task('a', 'x', { dueInMs: 60_000 }), task('a', 'x'))).toHaveLength(
      1,
    );
    expect(await claim('a')).toHaveLength(1);
  });

  test('a running task gets one successor, which is claimed only after it (D14)', async () => {
    const { db } = database;
    const [first] = await enqueueNow(db, task('a', 'x'));
    await claim('a');
    const [second] = await enqueueNow(db, task('a', 'x'));
    const [third] = await enqueueNow(db, task('a', 'x'));
    expect(second).toMatchObject({ existed: false });
    expect(second?.id).not.toBe(first?.id);
    expect(third).toMatchObject({ existed: true, id: second?.id });
    expect(await claim('a', 5)).toEqual([]);
  });

  test('a queued task that replaces the new one cannot start before the enqueuer has committed (D14)', async () => {
    const { db } = database;
    const [first] = await enqueueNow(db, task('a', 'x'));
    await db.transaction().execute(async (trx) => {
      expect(await enqueue(trx, [task('a', 'x')])).toEqual([{ id: first?.id, existed: true }]);
      expect(await claim('a')).toEqual([]);
    });
    expect(await claim('a')).toHaveLength(1);
  });

  test('a task that is claimed while the enqueuer waits for it does not replace the new one (D14)', async () => {
    const { db } = database;
    const [first] = await enqueueNow(db, task('a', 'x'));
    const claiming = await db.startTransaction().execute();
    await claimTasks(claiming, {
      holder: 'h',
      slots: { a: 1 },
      takeOver: false,
      claimMs: 60_000,
      keepFailedMs: 1_000,
    });
    const enqueued = enqueueNow(db, task('a', 'x'));
    await untilBlocked(database.db);
    await claiming.commit().execute();
    expect(await enqueued).toMatchObject([{ existed: false }]);
    expect((await enqueued)[0]?.id).not.toBe(first?.id);
  });

  test('many enqueuers of the same subjects in any order make each once and do not deadlock (D14)', async () => {
    const { db } = database;
    const names = Array.from({ length: 50 }, (_, n) => `w-${n}`);
    const shuffled = (n: number) => names.map((_, i) => task('a', names[(i * 7 + n) % 50] ?? ''));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => enqueueNow(db, ...shuffled(n))),
    );
    expect(answers.flat().filter(({ existed }) => !existed)).toHaveLength(50);
    expect(new Set(answers.flat().map(({ id }) => id)).size).toBe(50);
    expect(answers.every((answer) => answer.length === 50)).toBe(true);
  });

  test('waits for another enqueuer of the same tasks and never in a circle, with both in any order (D14)', async () => {
    const { db } = database;
    const { enqueued } = await db.transaction().execute(async (trx) => {
      await enqueue(trx, [task('a', 'x')]);
      const other = enqueueNow(db, task('a', 'y'), task('a', 'x'));
      other.catch(() => undefined);
      await untilBlocked(database.db);
      await enqueue(trx, [task('a', 'y')]);
      return { enqueued: other };
    });
    expect((await enqueued).map(({ existed }) => existed)).toEqual([true, true]);
  });

  test('is undone with its transaction (D14)', async () => {
    const { db } = database;
    const failing = db.transaction().execute(async (trx) => {
      await enqueue(trx, [task('a', 'x')]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await claim('a')).toEqual([]);
  });

  test.each([['text'], [null], [[1]]])('refuses a payload that is %p', async (payload) => {
    await expect(enqueueNow(database.db, task('a', 'x', { payload }))).rejects.toThrow(TypeError);
  });

  test.each([
    { maxAttempts: Number.NaN },
    { maxCrashes: Number.POSITIVE_INFINITY },
    { dueInMs: Number.POSITIVE_INFINITY },
    { dueInMs: Number.NaN },
  ])('refuses a value that is not a number, without a default: %p', async (more) => {
    await expect(enqueueNow(database.db, task('a', 'x', more))).rejects.toMatchObject({
      code: '22P02',
    });
    expect(await claim('a')).toEqual([]);
  });

  test('stores hostile text, and replaces characters that JSONB cannot hold', async () => {
    await enqueueNow(database.db, task('a', 'x\0y', { payload: { login: 'a\0b\uD800' } }));
    expect(await claim('a')).toMatchObject([
      { subject_id: 'x\uFFFDy', payload: { login: 'a\uFFFDb\uFFFD' } },
    ]);
  });
});
