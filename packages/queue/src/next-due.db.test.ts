import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { enqueueNow, executorsOf, task } from './scenes/executor-under-test.scene.ts';
import type { Handler } from './kind.ts';
import { nextDueInMs } from './claim-tasks.ts';
import { done, snooze } from './outcome.ts';

const HOUR_MS = 3_600_000;

const database = useTestDatabase();
const executors = executorsOf();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));
afterEach(executors.stopAll);

const queueToBeEmpty = () =>
  waitFor(
    'the queue to be empty',
    async () => (await database.db.selectFrom('tasks').select('id').execute()).length === 0,
  );

describe('an executor without notifications', () => {
  test('runs a task when it is due, however long its poll', async () => {
    await enqueueNow(
      database.db,
      task('a', 'x', { dueInMs: 500 }),
      task('a', 'y', { dueInMs: 1_000 }),
    );
    executors.start(
      database,
      { a: { handler: () => Promise.resolve(done()), slots: 4 } },
      { pollMs: HOUR_MS },
    );
    await queueToBeEmpty();
    const { rows } = await sql<{
      early: number;
    }>`select count(*) as early from operations where started_at < queued_at + interval '500 ms'`.execute(
      database.db,
    );
    expect(rows).toEqual([{ early: 0 }]);
  });

  test('runs a snoozed task while another of its tasks continues', async () => {
    const other = Promise.withResolvers<void>();
    let runs = 0;
    const handler: Handler = async ({ subject }) => {
      if (subject.id === 'lasting') {
        await other.promise;
        return done();
      }
      if (++runs < 3) return snooze(300, 'not yet');
      other.resolve();
      return done();
    };
    await enqueueNow(database.db, task('a', 'x'), task('a', 'lasting'));
    executors.start(database, { a: { handler, slots: 4 } }, { pollMs: HOUR_MS });
    await queueToBeEmpty();
    expect(runs).toBe(3);
  });

  test('rests although a task is due that it cannot take', async () => {
    const { db } = database;
    await enqueueNow(db, task('a', 'x'));
    await sql`update tasks set status = 'running', locked_by = 'another', locked_until = now() + interval '1 min', started_at = now()`.execute(
      db,
    );
    await enqueueNow(
      db,
      task('a', 'x'),
      task('a', 'later', { dueInMs: HOUR_MS }),
      task('b', 'y', { dueInMs: 1_000 }),
    );
    expect(await nextDueInMs(db, ['a'])).toBeGreaterThan(HOUR_MS - 60_000);
    expect(await nextDueInMs(db, ['a', 'b'])).toBeLessThanOrEqual(1_000);
    expect(await nextDueInMs(db, ['c'])).toBeUndefined();
  });
});
