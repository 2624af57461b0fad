import { beforeEach, describe, expect, test } from '@jest/globals';
import { type TestDatabase } from '@paddock/testing/database';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { afterFirstAnswer, countStatements } from '@paddock/testing/watched-statements';
import { sql } from 'kysely';
import { claimTasks } from './claim-tasks.ts';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';
import type { Handler } from './kind.ts';
import { snooze } from './outcome.ts';
import { recoverTasks } from './recover-tasks.ts';
import { writeSettlements } from './write-settlements.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

const KEEP = { okMs: 60_000, failedMs: 60_000 };
const claim = () =>
  claimTasks(database.db, {
    holder: 'h',
    slots: { a: 100 },
    takeOver: true,
    claimMs: 60_000,
    keepFailedMs: 60_000,
  });
const recover = (db: TestDatabase['db'] = database.db) =>
  recoverTasks(db, { batch: 250, keep: KEEP });
const letClaimsExpire = () =>
  sql`update tasks set locked_until = now() - interval '1 s' where status = 'running'`.execute(
    database.db,
  );
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
  test('a row with no start time is not stuck, and cannot be running at all', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    expect(await recover()).toMatchObject({ found: 0 });
    const halfClaimed =
      sql`update tasks set status = 'running', locked_by = 'h', locked_until = now() - interval '2 days'`.execute(
        database.db,
      );
    await expect(halfClaimed).rejects.toThrow('tasks_check');
  });

  test('work waiting for back-off or snooze is not touched', async () => {
    await enqueueNow(database.db, task('a', 'retries'), task('a', 'snoozes'));
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
    await enqueueNow(db, task('a', 'x'));
    await claim();
    await letClaimsExpire();
    const holder = await db.startTransaction().execute();
    await sql`update tasks set locked_until = now() + interval '1 minute'`.execute(holder);
    expect(await recover()).toMatchObject({ found: 0 });
    await holder.commit().execute();
    expect(await recover()).toMatchObject({ found: 0 });
    expect(await rows()).toEqual([{ status: 'running', crashes: 0, attempt: 1 }]);
  });

  test('a row that left the state between the two statements is not touched', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    await claim();
    await letClaimsExpire();
    const takenOver = async () => {
      await letClaimsExpire();
      await claim();
    };
    expect(await recover(afterFirstAnswer(database.db, takenOver))).toMatchObject({
      found: 1,
      requeued: 0,
      ended: [],
    });
    expect(await rows()).toEqual([{ status: 'running', crashes: 2, attempt: 1 }]);
  });

  test('the settle of a holder whose task is recovered changes nothing', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    const [held] = await claim();
    if (held === undefined) throw new Error('the task was not claimed');
    await letClaimsExpire();
    expect(await recover()).toMatchObject({ found: 1, requeued: 1 });
    const settled = await writeSettlements(
      database.db,
      [
        {
          claim: { ...held, holder: 'h' },
          settlement: { to: 'ok', processed: 'ok', followOn: [] },
        },
      ],
      KEEP,
    );
    expect(settled).toEqual(new Set());
    expect(await rows()).toEqual([{ status: 'queued', crashes: 1, attempt: 0 }]);
  });

  test('two statements for any number of tasks', async () => {
    await enqueueNow(database.db, ...Array.from({ length: 40 }, (_, n) => task('a', `w-${n}`)));
    await claim();
    await letClaimsExpire();
    await sql`update tasks set crashes = 3 where right(subject_id, 1) in ('0', '5')`.execute(
      database.db,
    );
    const counted = countStatements(database.db);
    const { requeued, ended } = await recover(counted.db);
    expect([requeued, ended.length]).toEqual([32, 8]);
    expect(counted.count()).toBe(2);
  });
});
