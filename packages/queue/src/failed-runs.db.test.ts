import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';
import type { Handler } from './kind.ts';
import { done, poison } from './outcome.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

const fails: Handler = () => Promise.reject(new Error('502'));
const makeDue = () => sql`update tasks set due_at = now()`.execute(database.db);

/**
 * The waits that the last failed runs were given, in milliseconds: from the instant of the failure
 * on.
 */
async function readWaits(): Promise<number[]> {
  const { rows } = await sql<{ wait: number }>`
    select extract(epoch from due_at - (failures -> -1 ->> 'at')::timestamptz)::double precision * 1000 as wait
    from tasks where status = 'queued'`.execute(database.db);
  return rows.map(({ wait }) => wait);
}

describe('the wait after a failed run', () => {
  test('is 30, 60, 120 and 240 s within 20 % after the first four, and the fifth ends the task (D4)', async () => {
    const { db } = database;
    await enqueueNow(db, ...Array.from({ length: 60 }, (_, n) => task('a', `w-${n}`)));
    for (const exactMs of [30_000, 60_000, 120_000, 240_000]) {
      await makeDue();
      // One run of each: none is due again before its wait is over.
      expect(await runDueTasks({ db, kinds: { a: { handler: fails, slots: 60 } } })).toBe(60);
      const waits = await readWaits();
      expect(waits).toHaveLength(60);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(exactMs * 0.8);
      expect(Math.max(...waits)).toBeLessThanOrEqual(exactMs * 1.2);
      // Tasks that failed together do not come back together.
      expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(exactMs * 0.1);
    }
    await makeDue();
    expect(await runDueTasks({ db, kinds: { a: { handler: fails, slots: 60 } } })).toBe(60);
    expect(await readWaits()).toEqual([]);
    const ended = await db
      .selectFrom('operations')
      .select(['status', 'failure_reason', 'attempt'])
      .distinct()
      .execute();
    expect(ended).toEqual([{ status: 'ERROR', failure_reason: 'attempts', attempt: 5 }]);
  });

  test.each([
    ['least', 0, 0.8],
    ['most', 0.999_999_999, 1.2],
  ])(
    'grows no further than to an hour within 20 %%: the %s it may be (D4)',
    async (_which, random, factor) => {
      const { db } = database;
      await enqueueNow(db, task('a', 'x', { maxAttempts: 20 }));
      const waits: number[] = [];
      for (let attempt = 1; attempt <= 12; attempt++) {
        await makeDue();
        await runDueTasks({ db, kinds: { a: { handler: fails, slots: 1 } }, random: () => random });
        waits.push(...(await readWaits()));
      }
      const exact = [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600, 3_600, 3_600];
      expect(waits.map((wait) => Math.round(wait / 1_000))).toEqual(
        exact.map((seconds) => Math.round(seconds * factor)),
      );
    },
  );
});

describe('how a run may fail', () => {
  const failing: Record<string, [Handler, string, string]> = {
    'an exception': [
      () => {
        throw new Error('at once');
      },
      'error',
      'at once',
    ],
    'a rejected promise': [() => Promise.reject(new Error('later')), 'error', 'later'],
    'a thrown non-Error': [
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- what this test is about
        throw { code: 42 };
      },
      'error',
      'a thrown object',
    ],
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what this test is about
    'a rejection without a reason': [() => Promise.reject(), 'error', 'a thrown undefined'],
    'a handler that never settles': [
      () => new Promise(() => undefined),
      'timeout',
      'the run took longer than its 50 ms',
    ],
  };

  test.each(Object.entries(failing))(
    '%s is transient: one attempt of five, and another run (D4, D13)',
    async (_what, failure) => {
      const { db } = database;
      const [handler, reason, message] = failure;
      const [enqueued] = await enqueueNow(db, task('a', 'x'));
      await runDueTasks({ db, kinds: { a: { handler, slots: 1, timeoutMs: 50 } } });
      expect(await db.selectFrom('tasks').selectAll().execute()).toMatchObject([
        {
          id: enqueued?.id,
          status: 'queued',
          attempt: 1,
          max_attempts: 5,
          crashes: 0,
          failures: [{ attempt: 1, reason, message }],
        },
      ]);
      await makeDue();
      await runDueTasks({
        db,
        kinds: { a: { handler: () => Promise.resolve(done('well')), slots: 1 } },
      });
      expect(await db.selectFrom('operations').selectAll().execute()).toMatchObject([
        { id: enqueued?.id, status: 'OK', attempt: 2, output: 'well' },
      ]);
    },
  );

  test('poison ends the task at once, with attempts left (D4)', async () => {
    const { db } = database;
    await enqueueNow(db, task('a', 'x'));
    await runDueTasks({
      db,
      kinds: { a: { handler: () => Promise.resolve(poison('its row is gone')), slots: 1 } },
    });
    expect(await db.selectFrom('tasks').selectAll().execute()).toEqual([]);
    expect(await db.selectFrom('operations').selectAll().execute()).toMatchObject([
      {
        status: 'ERROR',
        failure_reason: 'poison',
        failure_message: 'its row is gone',
        attempt: 1,
        max_attempts: 5,
      },
    ]);
  });
});
