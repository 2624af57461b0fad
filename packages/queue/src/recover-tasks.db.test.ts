import { describe, expect, test } from '@jest/globals';
import { afterFirstAnswer, countStatements } from '@paddock/testing/watched-statements';
import { sql } from 'kysely';
import type { Handler } from './kind.ts';
import { snooze } from './outcome.ts';
import { recoverTasks } from './recover-tasks.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';

const queue = useQueue();
const { database } = queue;

const { claim } = queue;
const recover = (batch = 250, db = database.db) =>
  recoverTasks(db, { batch, keep: { okMs: 60_000, failedMs: 60_000 } });

describe('recoverTasks', () => {
  test('puts stuck tasks back with a crash and no attempt, absorbs successors, and leaves others alone (E8, D5)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'stuck'), task('a', 'twin'));
    await claim();
    await queue.letClaimsExpire();
    await queue.enqueue(
      task('b', 'alive'),
      task('a', 'twin'),
      task('a', 'waits', { dueInMs: 60_000 }),
    );
    await claim({ b: 1 });
    expect(await recover()).toEqual({ found: 2, requeued: 2, ended: [], full: false });
    expect(await recover()).toEqual({ found: 0, requeued: 0, ended: [], full: false });
    const rows = await db.selectFrom('tasks').selectAll().orderBy('subject_id').execute();
    expect(rows).toMatchObject([
      { subject_id: 'alive', status: 'running', crashes: 0 },
      {
        subject_id: 'stuck',
        status: 'queued',
        attempt: 0,
        crashes: 1,
        failures: [{ reason: 'crash' }],
      },
      { subject_id: 'twin', status: 'queued', attempt: 0, crashes: 1 },
      { subject_id: 'waits', status: 'queued', attempt: 0, crashes: 0 },
    ]);
    expect(await claim()).toMatchObject([{ attempt: 1 }, { attempt: 1 }]);
  });

  test('ends a task at its fourth crash, whether claims or passes counted the first three (E8, D5)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'));
    await claim();
    await queue.letClaimsExpire();
    await claim();
    for (let n = 0; n < 2; n++) {
      await queue.letClaimsExpire();
      expect(await recover()).toMatchObject({ requeued: 1 });
      await claim();
    }
    await queue.letClaimsExpire();
    expect(await recover()).toMatchObject({
      found: 1,
      requeued: 0,
      ended: [{ kind: 'a', subject: { type: 'worker', id: 'x' } }],
      full: false,
    });
    expect(await db.selectFrom('operations').selectAll().execute()).toMatchObject([
      { status: 'ERROR', failure_reason: 'crashes', crashes: 4, attempt: 0 },
    ]);
  });

  test('takes those stuck longest first, and says that there may be more (E3, E8)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'young'), task('a', 'old'));
    await claim();
    await queue.letClaimsExpire();
    await sql`update tasks set locked_until = now() - interval '1 day' where subject_id = 'old'`.execute(
      db,
    );
    expect(await recover(1)).toEqual({ found: 1, requeued: 1, ended: [], full: true });
    expect(
      await db.selectFrom('tasks').select('subject_id').where('status', '=', 'queued').execute(),
    ).toEqual([{ subject_id: 'old' }]);
  });

  test('many passes at once count each crash once (D5, E8)', async () => {
    await queue.enqueue(...Array.from({ length: 30 }, (_, n) => task('a', `w-${n}`)));
    await claim();
    await queue.letClaimsExpire();
    const passes = await Promise.all(Array.from({ length: 5 }, () => recover()));
    expect(passes.reduce((sum, { requeued }) => sum + requeued, 0)).toBe(30);
    expect((await claim()).every(({ crashes, attempt }) => crashes === 1 && attempt === 1)).toBe(
      true,
    );
  });
});

const rows = () =>
  database.db
    .selectFrom('tasks')
    .select(['status', 'crashes', 'attempt'])
    .orderBy('subject_id')
    .execute();

const retryOrSnooze: Handler = ({ subject }) =>
  subject.id === 'snoozes'
    ? Promise.resolve(snooze(3_600_000, 'not yet'))
    : Promise.reject(new Error('again later'));

describe('stuck tasks (E8)', () => {
  test('work waiting for back-off or snooze is not touched', async () => {
    await queue.enqueue(task('a', 'retries'), task('a', 'snoozes'));
    expect(
      await runDueTasks({ db: database.db, kinds: { a: { slots: 2, handler: retryOrSnooze } } }),
    ).toBe(2);
    const before = await database.db.selectFrom('tasks').selectAll().orderBy('id').execute();
    expect(await recover()).toMatchObject({ found: 0 });
    expect(await database.db.selectFrom('tasks').selectAll().orderBy('id').execute()).toEqual(
      before,
    );
  });

  test('a row whose holder settles or renews at this moment is not waited for, and not touched', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'));
    await claim();
    await queue.letClaimsExpire();
    const holder = await db.startTransaction().execute();
    await sql`update tasks set locked_until = now() + interval '1 minute'`.execute(holder);
    expect(await recover()).toMatchObject({ found: 0 });
    await holder.commit().execute();
    expect(await recover()).toMatchObject({ found: 0 });
    expect(await rows()).toEqual([{ status: 'running', crashes: 0, attempt: 1 }]);
  });

  test('a row that left the state between the two statements is not touched', async () => {
    await queue.enqueue(task('a', 'x'));
    await claim();
    await queue.letClaimsExpire();
    const takenOver = async () => {
      await queue.letClaimsExpire();
      await claim();
    };
    expect(await recover(250, afterFirstAnswer(database.db, takenOver))).toMatchObject({
      found: 1,
      requeued: 0,
      ended: [],
    });
    expect(await rows()).toEqual([{ status: 'running', crashes: 2, attempt: 1 }]);
  });

  test('two statements for any number of tasks', async () => {
    await queue.enqueue(...Array.from({ length: 40 }, (_, n) => task('a', `w-${n}`)));
    await claim();
    await queue.letClaimsExpire();
    await sql`update tasks set crashes = 3 where right(subject_id, 1) in ('0', '5')`.execute(
      database.db,
    );
    const counted = countStatements(database.db);
    const { requeued, ended } = await recover(250, counted.db);
    expect([requeued, ended.length]).toEqual([32, 8]);
    expect(counted.count()).toBe(2);
  });
});
