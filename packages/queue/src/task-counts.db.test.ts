import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';
import { enqueueAlone } from './enqueue.ts';
import { task } from './scenes/executor-under-test.scene.ts';
import { done, poison } from './outcome.ts';
import { readTaskCounts, rollUpTaskCounts } from './operations.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

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
    const kinds = {
      good: { slots: 1, handler: () => Promise.resolve(done()) },
      bad: { slots: 1, handler: () => Promise.resolve(poison('no such worker')) },
    };
    await runDueTasks({ db, kinds });
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
    expect((await readTaskCounts(db, { ...all, step: 'day' })).map(({ ended }) => ended)).toEqual([
      4, 2, 1,
    ]);
    expect(await rollUpTaskCounts(db)).toEqual({ merged: 0, removed: 1 });
    expect((await readTaskCounts(db, { ...all, step: 'day' })).map(({ ended }) => ended)).toEqual([
      2, 1,
    ]);
  });
});
