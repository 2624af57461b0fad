import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { untilBlocked } from '@paddock/testing/until-blocked';
import { sql } from 'kysely';
import { claimTasks } from './claim-tasks.ts';
import { runDueTasks } from './run-due-tasks.ts';
import { enqueueNow, executorsOf, task } from './scenes/executor-under-test.scene.ts';
import type { Handler } from './kind.ts';
import { done, snooze } from './outcome.ts';
import { requeueTasks } from './requeue-tasks.ts';

const HOUR_MS = 3_600_000;

const database = useTestDatabase();
const executors = executorsOf();
beforeEach(() => sql`truncate tasks, operations, task_counts, breakers`.execute(database.db));
afterEach(executors.stopAll);

const putBreaker = (id: string, failureClass: string, pausedMs = HOUR_MS) =>
  sql`
  insert into breakers (subject_type, subject_id, failure_class, failures, paused_until, message)
  values ('cluster', ${id}, ${failureClass}, 1, now() + ${pausedMs} * interval '1 millisecond', 'is away')`.execute(
    database.db,
  );
const shorten = (failureClass: string, pausedMs: number) =>
  sql`
  update breakers set paused_until = now() + ${pausedMs} * interval '1 millisecond' where failure_class = ${failureClass}`.execute(
    database.db,
  );
const letGo = (id: string) =>
  sql`delete from breakers where subject_id = ${id}`.execute(database.db);
const tasks = async () => {
  const { rows } = await sql<{
    subject: string;
    heldBy: string | null;
    status: string;
    minutes: number;
  }>`
    select subject_id as subject, held_by as "heldBy", status, greatest(0, round(extract(epoch from due_at - now()) / 60))::integer as minutes
    from tasks order by subject_id`.execute(database.db);
  return rows;
};
const minutes = async () => (await tasks()).map((row) => row.minutes);

/** Snoozes for an hour while the subject's breaker is open, like a handler whose call must wait. */
const waiting: Handler = async ({ subject }) => {
  const { rows } =
    await sql`select from breakers where subject_id = ${subject.id} and paused_until > now()`.execute(
      database.db,
    );
  return rows.length > 0
    ? snooze(HOUR_MS, 'the cluster is away', { heldBy: `cluster:${subject.id}` })
    : done();
};
const kinds = { a: { handler: waiting, slots: 4 } };

/** Snoozes for an hour and does not ask the breaker. */
const waitAnHour: Handler = () =>
  Promise.resolve(snooze(HOUR_MS, 'the cluster is away', { heldBy: 'cluster:x' }));

/** Snoozes for a breaker that closes meanwhile. */
const late: Handler = async () => {
  await letGo('x');
  return snooze(HOUR_MS, 'the cluster was away', { heldBy: 'cluster:x' });
};

async function hold(...subjects: string[]): Promise<void> {
  await enqueueNow(database.db, ...subjects.map((subject) => task('a', subject)));
  await runDueTasks({ db: database.db, kinds });
}

describe('a task that a breaker holds', () => {
  test('waits for a part of the subject, and goes on with it', async () => {
    await putBreaker('x/core', 'rate_limited');
    const parts: Handler = async () => {
      const { rows } = await sql`select from breakers`.execute(database.db);
      return rows.length > 0
        ? snooze(HOUR_MS, 'the budget is used up', { heldBy: 'cluster:x' })
        : done();
    };
    await enqueueNow(database.db, task('a', 'x'));
    await runDueTasks({ db: database.db, kinds: { a: { handler: parts, slots: 4 } } });
    expect(await minutes()).toEqual([60]);
    await letGo('x/core');
    expect(await minutes()).toEqual([0]);
  });

  test('names it while it waits, and no longer once it is claimed', async () => {
    await putBreaker('x', 'silent');
    await hold('x');
    expect(await tasks()).toEqual([
      { subject: 'x', heldBy: 'cluster:x', status: 'queued', minutes: 60 },
    ]);
    for (const takeOver of [true, false]) {
      await sql`update tasks set due_at = now(), held_by = 'cluster:x'`.execute(database.db);
      const [claimed] = await claimTasks(database.db, {
        holder: 'h',
        slots: { a: 1 },
        takeOver,
        keepFailedMs: HOUR_MS,
      });
      expect(await tasks()).toMatchObject([{ heldBy: null, status: 'running' }]);
      await requeueTasks(
        database.db,
        [
          {
            id: claimed?.id ?? '',
            fence: claimed?.fence ?? 0,
            holder: 'h',
            delayMs: 0,
            giveBack: true,
          },
        ],
        HOUR_MS,
      );
      expect(await tasks()).toMatchObject([{ heldBy: null, status: 'queued' }]);
    }
  });

  test('is due at once when people delete the row, and its executor is woken; others wait on', async () => {
    await Promise.all(['x', 'y'].map((id) => putBreaker(id, 'silent')));
    executors.start(database, kinds, { pollMs: HOUR_MS });
    await enqueueNow(database.db, task('a', 'x'), task('a', 'y'));
    await waitFor('both to be held', async () =>
      (await tasks()).every(({ heldBy }) => heldBy !== null),
    );
    await letGo('x');
    await waitFor('the end of one', async () => (await tasks()).length === 1);
    expect(await tasks()).toEqual([
      { subject: 'y', heldBy: 'cluster:y', status: 'queued', minutes: 60 },
    ]);
  });

  test('is due when nothing pauses the subject any longer: at the later of two ends, and sooner if one moves', async () => {
    await putBreaker('x', 'silent');
    await putBreaker('x', 'rate_limited', HOUR_MS / 2);
    await hold('x');
    await sql`delete from breakers where failure_class = 'silent'`.execute(database.db);
    expect(await minutes()).toEqual([30]);
    await shorten('rate_limited', HOUR_MS);
    expect(await minutes()).toEqual([30]);
    await shorten('rate_limited', HOUR_MS / 6);
    expect(await minutes()).toEqual([10]);
    await shorten('rate_limited', 0);
    expect(await minutes()).toEqual([0]);
  });

  test('is let go by a breaker that closed while it was on its way back, within a second', async () => {
    await putBreaker('x', 'silent');
    await enqueueNow(database.db, task('a', 'x'));
    await runDueTasks({ db: database.db, kinds: { a: { handler: late, slots: 1 } } });
    expect(await tasks()).toMatchObject([{ status: 'queued', minutes: 0 }]);
  });

  test('is let go by a deletion that commits while it is written back', async () => {
    const { db } = database;
    await putBreaker('x', 'silent');
    await enqueueNow(db, task('a', 'x'));
    const [claimed] = await claimTasks(db, {
      holder: 'h',
      slots: { a: 1 },
      takeOver: false,
      keepFailedMs: HOUR_MS,
    });
    const deleting = await db.startTransaction().execute();
    await sql`delete from breakers`.execute(deleting);
    const held = {
      id: claimed?.id ?? '',
      fence: claimed?.fence ?? 0,
      holder: 'h',
      delayMs: HOUR_MS,
      giveBack: true,
      heldBy: 'cluster:x',
    };
    const requeued = requeueTasks(db, [held], HOUR_MS);
    await untilBlocked(db);
    await deleting.commit().execute();
    await requeued;
    expect(await tasks()).toMatchObject([{ status: 'queued', minutes: 0 }]);
  });

  test('waits no longer than the breaker pauses by then, or than for a look at a trial', async () => {
    await putBreaker('x', 'silent', 600_000);
    await enqueueNow(database.db, task('a', 'x'));
    await runDueTasks({ db: database.db, kinds: { a: { handler: waitAnHour, slots: 1 } } });
    expect(await minutes()).toEqual([10]);
    await sql`update breakers set paused_until = now(), trial_until = now() + interval '2 minutes'`.execute(
      database.db,
    );
    await runDueTasks({ db: database.db, kinds: { a: { handler: waitAnHour, slots: 1 } } });
    expect(await minutes()).toEqual([0]);
  });

  test('is passed over while it is locked: the deletion does not wait', async () => {
    await putBreaker('x', 'silent');
    await putBreaker('y', 'silent');
    await hold('x', 'y');
    const locking = await database.db.startTransaction().execute();
    await sql`select from tasks where subject_id = 'x' for update`.execute(locking);
    await sql`delete from breakers`.execute(database.db);
    await locking.rollback().execute();
    expect(await tasks()).toMatchObject([
      { subject: 'x', minutes: 60 },
      { subject: 'y', minutes: 0 },
    ]);
  });
});
