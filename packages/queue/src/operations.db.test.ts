import { findOperation } from '@paddock/api/operations/operation';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';
import { claimAll, enqueueNow, task } from './scenes/executor-under-test.scene.ts';
import { done, type Outcome, poison, snooze } from './outcome.ts';
import { purgeOperations } from './operations.ts';
import { readQueueDepth } from './queue-depth.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

const claim = (kind = 'a') => claimAll(database.db, kind);
const enqueueOne = async (id: string) =>
  (await enqueueNow(database.db, task('a', id, { requestedBy: 'me', origin: 'MANUAL' })))[0]?.id ??
  '';
const run = (outcome: Outcome) =>
  runDueTasks({
    db: database.db,
    kinds: { a: { slots: 5, handler: () => Promise.resolve(outcome) } },
  });

describe('findOperation', () => {
  test('answers through the whole life of a task (F1)', async () => {
    const { db } = database;
    const id = await enqueueOne('x');
    expect(await findOperation(db, id)).toMatchObject({
      id,
      kind: 'a',
      origin: 'MANUAL',
      requestedBy: 'me',
      status: 'QUEUED',
      subject: { type: 'worker', id: 'x', name: null },
      attempt: 0,
      maxAttempts: 5,
      startedAt: null,
      finishedAt: null,
      nextRunAt: expect.any(Date),
      output: null,
      failure: null,
    });
    await run(snooze(60_000, 'at the rate limit'));
    expect(await findOperation(db, id)).toMatchObject({
      status: 'QUEUED',
      attempt: 0,
      nextRunAt: expect.any(Date),
      failure: { reason: 'snooze', message: 'at the rate limit' },
    });
    await sql`update tasks set due_at = now()`.execute(db);
    await claim();
    expect(await findOperation(db, id)).toMatchObject({
      status: 'RUNNING',
      attempt: 1,
      startedAt: expect.any(Date),
      nextRunAt: null,
    });
    await sql`update tasks set locked_until = now()`.execute(db);
    await run(done({ made: 1 }));
    expect(await findOperation(db, id)).toMatchObject({
      status: 'OK',
      finishedAt: expect.any(Date),
      nextRunAt: null,
      output: { made: 1 },
      failure: null,
    });
  });

  test('gives the reason why one failed (F1)', async () => {
    const id = await enqueueOne('x');
    await run(poison('no such row'));
    expect(await findOperation(database.db, id)).toMatchObject({
      status: 'ERROR',
      failure: { reason: 'poison', message: 'no such row' },
    });
  });

  test.each(['', 'nonsense', '00000000-0000-4000-8000-000000000000', "' or true --"])(
    'knows nothing of the id %p (F1)',
    async (id) => {
      expect(await findOperation(database.db, id)).toBeUndefined();
    },
  );

  test('knows nothing of one whose time is over, purged or not (F1, F2)', async () => {
    const id = await enqueueOne('x');
    await run(done());
    await sql`update operations set expires_at = now() - interval '1 s'`.execute(database.db);
    expect(await findOperation(database.db, id)).toBeUndefined();
  });
});

describe('purgeOperations', () => {
  test('removes expired ones, in batches, any number of times, and leaves the counts alone (D9, F3)', async () => {
    const { db } = database;
    for (const id of ['x', 'y', 'z', 'kept']) await enqueueOne(id);
    await run(done());
    await sql`update operations set expires_at = now() - interval '1 s' where subject_id <> 'kept'`.execute(
      db,
    );
    expect(await purgeOperations(db, 2)).toBe(2);
    expect(await purgeOperations(db, 2)).toBe(1);
    expect(await purgeOperations(db, 2)).toBe(0);
    expect(await db.selectFrom('operations').select('subject_id').execute()).toEqual([
      { subject_id: 'kept' },
    ]);
    expect(await db.selectFrom('task_counts').select('ended').execute()).toEqual([{ ended: 4 }]);
  });

  test('twice in a row, or two at once, removes each once and no more than that (D9, F2, F3)', async () => {
    const { db } = database;
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => enqueueOne(`w-${n}`)));
    await enqueueOne('unfinished');
    await claim();
    await sql`update tasks set status = 'queued', locked_by = null, locked_until = null, started_at = null where subject_id <> 'unfinished'`.execute(
      db,
    );
    await run(done());
    await sql`update operations set expires_at = now() - interval '1 s' where subject_id <> 'w-0'`.execute(
      db,
    );
    const counted = await db.selectFrom('task_counts').selectAll().execute();
    const removed = await Promise.all([purgeOperations(db, 100), purgeOperations(db, 100)]);
    expect(removed.reduce((sum, count) => sum + count, 0)).toBe(39);
    const after = await db.selectFrom('operations').selectAll().execute();
    expect(after.map(({ id }) => id)).toEqual(ids.slice(0, 1));
    expect(await purgeOperations(db, 100)).toBe(0);
    expect(await purgeOperations(db, 100)).toBe(0);
    expect(await db.selectFrom('operations').selectAll().execute()).toEqual(after);
    expect(await db.selectFrom('task_counts').selectAll().execute()).toEqual(counted);
    expect(await db.selectFrom('tasks').select(['subject_id', 'status']).execute()).toEqual([
      { subject_id: 'unfinished', status: 'running' },
    ]);
  });
});

describe('readQueueDepth', () => {
  test('counts waiting, due and running tasks by kind, and how long the oldest has been due (D8)', async () => {
    const { db } = database;
    await enqueueNow(db, task('a', 'x'), task('a', 'later', { dueInMs: 60_000 }), task('b', 'x'));
    await claim('b');
    await sql`update tasks set due_at = now() - interval '90 s' where subject_id = 'x'`.execute(db);
    const depths = await readQueueDepth(db);
    expect(depths).toEqual([
      { kind: 'a', queued: 2, due: 1, running: 0, oldestDueSeconds: expect.closeTo(90, -1) },
      { kind: 'b', queued: 0, due: 0, running: 1, oldestDueSeconds: 0 },
    ]);
  });
});
