import { findOperation } from '@paddock/api/operations/operation';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { type AskedTask, enqueueAsked } from './enqueue.ts';
import type { Handler } from './kind.ts';
import { done, snooze } from './outcome.ts';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';
import { enqueueNow, executorsOf, task } from './scenes/executor-under-test.scene.ts';

const database = useTestDatabase();
const executors = executorsOf();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));
afterEach(executors.stopAll);

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
    executors.start(
      database,
      { a: { slots: 1, handler: ({ id }) => (ran.push(id), Promise.resolve(done())) } },
      { pollMs: 3_600_000 },
    );
    const [queued] = await enqueueNow(database.db, task('a', 'x', { dueInMs: 3_600_000 }));
    await waitFor('the executor to listen', async () => {
      const { rows } =
        await sql`select from pg_stat_activity where datname = current_database() and query ~* '^listen'`.execute(
          database.db,
        );
      return rows.length > 0;
    });
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
    await enqueueNow(database.db, task('a', 'x'));
    expect(await tasks()).toMatchObject([{ id: ids[0], origin: 'MANUAL' }]);
  });

  test('is another task while one runs, and one with it if that has to run again', async () => {
    const [first] = await enqueueNow(database.db, task('a', 'x', { payload: { since: since(5) } }));
    const asked: string[] = [];
    const handler: Handler = async () => {
      if (asked.length === 0) asked.push(await askFor('ada', { payload: { since: since(3) } }));
      return snooze(3_600_000, 'a rate limit');
    };
    // The run that comes back to the queue is due at once, as the request was.
    expect(await runDueTasks({ db: database.db, kinds: { a: { slots: 1, handler } } })).toBe(2);
    expect(await findOperation(database.db, asked[0] ?? '')).toMatchObject({
      status: 'OK',
      output: { mergedInto: first?.id },
    });
    expect(await tasks()).toMatchObject([
      { id: first?.id, origin: 'MANUAL', requested_by: 'ada', payload: { since: since(3) } },
    ]);
  });

  test.each([
    ['the earlier instant', { since: since(5) }, { since: since(3) }, { since: since(3) }],
    ['the earlier instant', { since: since(3) }, { since: since(5) }, { since: since(3) }],
    ['the instant of the one that has one', {}, { since: since(3) }, { since: since(3) }],
    [
      'what else the first says',
      { since: since(5), dryRun: true },
      { since: since(3) },
      { since: since(3), dryRun: true },
    ],
    ['what they both say', { since: since(3), b: 1 }, { since: since(3), b: 1 }, null],
    ['the first payload otherwise', { b: 1 }, { b: 2 }, { b: 1 }],
    ['the first payload otherwise', { since: since(3) }, { b: 2 }, { since: since(3) }],
  ])('and another one for its subject have %s', async (_what, one, other, expected) => {
    const wanted = { payload: expected ?? one };
    await askFor('ada', { payload: one });
    await askFor('grace', { payload: other });
    expect(await tasks()).toMatchObject([wanted]);
    await sql`truncate tasks`.execute(database.db);
    await enqueueNow(database.db, task('a', 'x', { payload: one }));
    const [again] = await enqueueNow(database.db, task('a', 'x', { payload: other }));
    expect(again).toMatchObject({ existed: true });
    expect(await tasks()).toMatchObject([wanted]);
  });
});
