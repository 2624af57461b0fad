import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { claimAll, enqueueNow, task } from './scenes/executor-under-test.scene.ts';
import { recoverTasks } from './recover-tasks.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

const claim = (kind = 'a') => claimAll(database.db, kind);
const recover = (batch = 250) =>
  recoverTasks(database.db, { batch, keep: { okMs: 60_000, failedMs: 60_000 } });
const letClaimsExpire = () =>
  sql`update tasks set locked_until = now() - interval '1 s' where status = 'running'`.execute(
    database.db,
  );

describe('recoverTasks', () => {
  test('puts stuck tasks back with a crash and no attempt, absorbs successors, and leaves others alone (E8, D5)', async () => {
    const { db } = database;
    await enqueueNow(db, task('a', 'stuck'), task('a', 'twin'));
    await claim();
    await letClaimsExpire();
    await enqueueNow(
      db,
      task('b', 'alive'),
      task('a', 'twin'),
      task('a', 'waits', { dueInMs: 60_000 }),
    );
    await claim('b');
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
    await enqueueNow(db, task('a', 'x'));
    await claim();
    await letClaimsExpire();
    await claim();
    for (let n = 0; n < 2; n++) {
      await letClaimsExpire();
      expect(await recover()).toMatchObject({ requeued: 1 });
      await claim();
    }
    await letClaimsExpire();
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
    await enqueueNow(db, task('a', 'young'), task('a', 'old'));
    await claim();
    await letClaimsExpire();
    await sql`update tasks set locked_until = now() - interval '1 day' where subject_id = 'old'`.execute(
      db,
    );
    expect(await recover(1)).toEqual({ found: 1, requeued: 1, ended: [], full: true });
    expect(
      await db.selectFrom('tasks').select('subject_id').where('status', '=', 'queued').execute(),
    ).toEqual([{ subject_id: 'old' }]);
  });

  test('many passes at once count each crash once (D5, E8)', async () => {
    await enqueueNow(database.db, ...Array.from({ length: 30 }, (_, n) => task('a', `w-${n}`)));
    await claim();
    await letClaimsExpire();
    const passes = await Promise.all(Array.from({ length: 5 }, () => recover()));
    expect(passes.reduce((sum, { requeued }) => sum + requeued, 0)).toBe(30);
    expect((await claim()).every(({ crashes, attempt }) => crashes === 1 && attempt === 1)).toBe(
      true,
    );
  });
});
