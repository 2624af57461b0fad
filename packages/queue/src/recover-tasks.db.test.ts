import { describe, expect, test } from '@jest/globals';
import { afterFirstAnswer, countStatements } from '@paddock/testing/watched-statements';
import { sql } from 'kysely';
import { snooze } from './kind.ts';
import { recoverTasks } from './recover-tasks.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';

const queue = useQueue();
const { database } = queue;

const { claim } = queue;
const recover = (batch = 250, db = database.db) =>
  recoverTasks(db, { batch, keep: { okMs: 60_000, failedMs: 60_000 } });

const putStuck = async (...names: string[]) => {
  await queue.enqueue(...names.map((name) => task('a', name)));
  await claim();
  await queue.letClaimsExpire();
};

describe('recoverTasks', () => {
  test('puts stuck tasks back with a crash and no attempt, absorbs successors, and leaves others alone (E8, D5)', async () => {
    await putStuck('stuck', 'twin');
    await queue.enqueue(
      task('b', 'alive'),
      task('a', 'twin'),
      task('a', 'waits', { dueInMs: 60_000 }),
    );
    await claim({ b: 1 });
    expect(await recover()).toEqual({ found: 2, requeued: 2, ended: [], full: false });
    expect(await recover()).toEqual({ found: 0, requeued: 0, ended: [], full: false });
    const freed = { status: 'queued', attempt: 0, crashes: 1, failures: [{ reason: 'crash' }] };
    expect(await queue.tasks()).toMatchObject([
      { subject_id: 'alive', status: 'running', crashes: 0 },
      { subject_id: 'stuck', ...freed },
      { subject_id: 'twin', ...freed },
      { subject_id: 'waits', status: 'queued', attempt: 0, crashes: 0 },
    ]);
    expect(await claim()).toMatchObject([{ attempt: 1 }, { attempt: 1 }]);
  });

  test('ends a task at its fourth crash, whether claims or passes counted the first three (E8, D5)', async () => {
    await putStuck('x');
    await claim();
    for (let n = 0; n < 2; n++) {
      await queue.letClaimsExpire();
      expect(await recover()).toMatchObject({ requeued: 1 });
      await claim();
    }
    await queue.letClaimsExpire();
    const x = { kind: 'a', subject: { type: 'worker', id: 'x' } };
    expect(await recover()).toMatchObject({ found: 1, requeued: 0, ended: [x], full: false });
    const failed = { status: 'ERROR', failure_reason: 'crashes', crashes: 4, attempt: 0 };
    expect(await queue.operations()).toMatchObject([failed]);
  });

  test('takes those stuck longest first, and says that there may be more (E3, E8)', async () => {
    await putStuck('young', 'old');
    await sql`update tasks set locked_until = now() - interval '1 day' where subject_id = 'old'`.execute(
      database.db,
    );
    expect(await recover(1)).toEqual({ found: 1, requeued: 1, ended: [], full: true });
    expect(await queue.tasks()).toMatchObject([{ status: 'queued' }, { status: 'running' }]);
  });

  test('many passes at once count each crash once (D5, E8)', async () => {
    await putStuck(...Array.from({ length: 30 }, (_, n) => `w-${n}`));
    const passes = await Promise.all(Array.from({ length: 5 }, () => recover()));
    expect(passes.reduce((sum, { requeued }) => sum + requeued, 0)).toBe(30);
    expect((await claim()).every(({ crashes, attempt }) => crashes === 1 && attempt === 1)).toBe(
      true,
    );
  });
});

describe('stuck tasks (E8)', () => {
  test('work waiting for back-off or snooze is not touched', async () => {
    const retries = { slots: 1, handler: () => Promise.reject(new Error('again later')) };
    const snoozes = { slots: 1, handler: () => Promise.resolve(snooze(3_600_000, 'not yet')) };
    await queue.enqueue(task('a', 'x'), task('b', 'y'));
    expect(await runDueTasks({ db: database.db, kinds: { a: retries, b: snoozes } })).toBe(2);
    const before = await queue.tasks();
    expect(await recover()).toMatchObject({ found: 0 });
    expect(await queue.tasks()).toEqual(before);
  });

  test('a row whose holder settles or renews at this moment is not waited for, and not touched', async () => {
    await putStuck('x');
    const holder = await database.db.startTransaction().execute();
    await sql`update tasks set locked_until = now() + interval '1 minute'`.execute(holder);
    expect(await recover()).toMatchObject({ found: 0 });
    await holder.commit().execute();
    expect(await recover()).toMatchObject({ found: 0 });
    expect(await queue.tasks()).toMatchObject([{ status: 'running', crashes: 0, attempt: 1 }]);
  });

  test('a row that left the state between the two statements is not touched', async () => {
    await putStuck('x');
    const takenOver = async () => {
      await queue.letClaimsExpire();
      await claim();
    };
    const recovered = await recover(250, afterFirstAnswer(database.db, takenOver));
    expect(recovered).toMatchObject({ found: 1, requeued: 0, ended: [] });
    expect(await queue.tasks()).toMatchObject([{ status: 'running', crashes: 2, attempt: 1 }]);
  });

  test('two statements for any number of tasks', async () => {
    await putStuck(...Array.from({ length: 40 }, (_, n) => `w-${n}`));
    await sql`update tasks set crashes = 3 where right(subject_id, 1) in ('0', '5')`.execute(
      database.db,
    );
    const counted = countStatements(database.db);
    const { requeued, ended } = await recover(250, counted.db);
    expect([requeued, ended.length]).toEqual([32, 8]);
    expect(counted.count()).toBe(2);
  });
});
