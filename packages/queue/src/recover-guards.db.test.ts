import { beforeEach, describe, expect, test } from '@jest/globals';
import { type TestDatabase } from '@paddock/testing/database';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { afterFirstAnswer, countStatements } from '@paddock/testing/watched-statements';
import { sql } from 'kysely';
import { claimTasks } from './claim-tasks.ts';
import { runDueTasks } from './run-due-tasks.ts';
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
    holder: 'h/60000ms',
    slots: { a: 100 },
    takeOver: true,
    keepFailedMs: 60_000,
  });
const recover = (db: TestDatabase['db'] = database.db) =>
  recoverTasks(db, { batch: 250, keep: KEEP });
const letClaimsExpire = () =>
  sql`update tasks set locked_at = now() - interval '61 s' where status = 'running'`.execute(
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
      sql`update tasks set status = 'running', locked_by = 'h/60000ms', locked_at = now() - interval '2 days'`.execute(
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

  test('a row that left the state between SELECT and UPDATE is not touched', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    const [held] = await claim();
    if (held === undefined) throw new Error('the task was not claimed');
    await letClaimsExpire();
    const settled = () =>
      writeSettlements(
        database.db,
        [
          {
            claim: { ...held, holder: 'h/60000ms' },
            settlement: { to: 'ok', processed: 'ok', followOn: [] },
          },
        ],
        KEEP,
      );
    expect(await recover(afterFirstAnswer(database.db, settled))).toMatchObject({
      found: 1,
      requeued: 0,
      ended: [],
    });
    expect(await rows()).toEqual([]);
    expect(await database.db.selectFrom('operations').select('status').execute()).toEqual([
      { status: 'OK' },
    ]);
  });

  test('nor one that was finished and claimed again', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    await claim();
    await letClaimsExpire();
    const takenOver = () => claim();
    expect(await recover(afterFirstAnswer(database.db, takenOver))).toMatchObject({
      found: 1,
      requeued: 0,
      ended: [],
    });
    expect(await rows()).toEqual([{ status: 'running', crashes: 1, attempt: 1 }]);
  });

  test.each([
    ['go back', 0],
    ['end', 3],
  ])(
    'nor one whose holder renews its claim meanwhile, and that was to %s',
    async (_what, crashes) => {
      await enqueueNow(database.db, task('a', 'x'));
      await claim();
      await letClaimsExpire();
      await sql`update tasks set crashes = ${crashes}`.execute(database.db);
      const renewed = () => sql`update tasks set locked_at = now()`.execute(database.db);
      expect(await recover(afterFirstAnswer(database.db, renewed))).toMatchObject({
        found: 1,
        requeued: 0,
        ended: [],
      });
      expect(await rows()).toEqual([{ status: 'running', crashes, attempt: 1 }]);
    },
  );

  test('at most 3 statements for any number of tasks', async () => {
    await enqueueNow(database.db, ...Array.from({ length: 40 }, (_, n) => task('a', `w-${n}`)));
    await claim();
    await letClaimsExpire();
    await sql`update tasks set crashes = 3 where right(subject_id, 1) in ('0', '5')`.execute(
      database.db,
    );
    const counted = countStatements(database.db);
    const { requeued, ended } = await recover(counted.db);
    expect([requeued, ended.length]).toEqual([32, 8]);
    expect(counted.count()).toBeLessThanOrEqual(3);
  });
});
