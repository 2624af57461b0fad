import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import {
  executorProcesses,
  prepareEffects,
  readEffects,
  sessionsToEnd,
} from './scenes/executor-processes.scene.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';

const database = useTestDatabase();
const processes = executorProcesses(() => database);
beforeAll(async () => {
  await prepareEffects(database.db);
});
beforeEach(() => sql`truncate tasks, operations, task_counts, effects`.execute(database.db));
afterEach(async () => {
  await processes.killAll();
  await sessionsToEnd(database.db);
});

const tasks = () => database.db.selectFrom('tasks').selectAll().execute();
const operations = () =>
  database.db.selectFrom('operations').selectAll().orderBy('subject_id').execute();
const counts = () =>
  database.db.selectFrom('task_counts').select(['outcome', 'failure_reason', 'ended']).execute();
const queueToBeEmpty = () =>
  waitFor('the queue to be empty', async () => (await tasks()).length === 0);

/** How long after the end of its first holder's claim the task was taken, in milliseconds. */
const takenAfterClaim = async (subject: string, lockedUntil: Date | null | undefined) => {
  const row = (await operations()).find(({ subject_id }) => subject_id === subject);
  return (row?.started_at?.getTime() ?? 0) - (lockedUntil?.getTime() ?? Number.NaN);
};

/** A live holder may stop for two thirds of it, as on a busy machine. */
const CLAIM_MS = 5_000;

describe('executors in several processes', () => {
  test('12 executors in 3 processes run 1 000 tasks, and each takes effect once (D2)', async () => {
    const { db } = database;
    const options = { executors: 4, slots: { count: 4, hold: 1 } };
    const started = await Promise.all(
      ['red', 'green', 'blue'].map((name) => processes.start({ name, ...options })),
    );
    // One slot for these in each: all twelve are at work when each of twelve tasks has another
    // holder.
    const barrier = Array.from({ length: 12 }, (_, n) => task('hold', `barrier-${n}`));
    await enqueueNow(db, ...barrier);
    const holders = () =>
      new Set(started.flatMap(({ heard }) => heard('began')).map(({ holder }) => holder));
    await waitFor('all twelve executors', () => holders().size === 12);

    for (let n = 0; n < 1_000; n += 50) {
      await enqueueNow(db, ...Array.from({ length: 50 }, (_, i) => task('count', `w-${n + i}`)));
      if (n === 500)
        for (const process of started) for (const { subject } of barrier) process.open(subject.id);
    }
    await queueToBeEmpty();

    const effects = await readEffects(db);
    expect(effects).toHaveLength(1_012);
    expect(new Set(effects.map(({ task_id }) => task_id)).size).toBe(1_012);
    const ended = await operations();
    expect(ended).toHaveLength(1_012);
    expect(
      ended.filter(
        ({ status, attempt, crashes }) => status !== 'OK' || attempt !== 1 || crashes !== 0,
      ),
    ).toEqual([]);
    const holderOf = new Map(effects.map(({ task_id, holder }) => [task_id, holder]));
    expect(
      ended.filter(
        ({ id, output }) => JSON.stringify(output) !== JSON.stringify({ by: holderOf.get(id) }),
      ),
    ).toEqual([]);
    expect((await counts()).reduce((sum, row) => sum + row.ended, 0)).toBe(1_012);
    for (const { heard } of started)
      expect([heard('lost'), heard('taken over'), heard('failed')]).toEqual([[], [], []]);
  });
});

describe('an executor that is killed in the middle of a handler', () => {
  const rules = { claimMs: CLAIM_MS };

  test('another one takes its task as soon as the claim is over, with no reconciler running (D5)', async () => {
    const { db } = database;
    const first = await processes.start({ name: 'first', rules });
    await enqueueNow(db, task('hold', 'x'));
    await first.waitFor('began', 'x');
    const second = await processes.start({ name: 'second', rules });
    // Before its end: soon after it the other one has the task.
    const [left] = await tasks();
    expect(left).toMatchObject({
      status: 'running',
      locked_by: 'first-1',
    });
    first.kill('SIGKILL');
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });

    expect(await second.waitFor('began', 'x')).toMatchObject({ attempt: 1, crashes: 1 });
    second.open('x');
    await queueToBeEmpty();
    expect(await operations()).toMatchObject([
      {
        id: left?.id,
        status: 'OK',
        attempt: 1,
        crashes: 1,
        output: { by: 'second-1' },
        failures: [{ reason: 'crash', attempt: 1 }],
      },
    ]);
    expect(await readEffects(db)).toMatchObject([{ subject: 'x', holder: 'second-1' }]);
    expect(await takenAfterClaim('x', left?.locked_until)).toBeGreaterThanOrEqual(0);
    expect(second.heard('taken over', 'x')).toHaveLength(1);
  });
});

describe('an executor that hangs for longer than its claim', () => {
  test('wakes up to find its handlers aborted and its settles void: the work was done once, by another (D5, D6)', async () => {
    const { db } = database;
    const rules = { claimMs: CLAIM_MS };
    const hung = await processes.start({ name: 'hung', rules });
    await enqueueNow(db, task('hold', 'obeys'), task('hold', 'deaf', { payload: { deaf: true } }));
    await hung.waitFor('began', 'obeys');
    await hung.waitFor('began', 'deaf');
    const other = await processes.start({ name: 'other', rules });
    const over = (await tasks()).map(({ locked_until }) => locked_until?.getTime() ?? Number.NaN);
    hung.kill('SIGSTOP');

    for (const subject of ['obeys', 'deaf']) {
      expect(await other.waitFor('began', subject)).toMatchObject({ attempt: 1, crashes: 1 });
    }
    // The one is over when the first holder wakes up, the other is still at work.
    other.open('obeys');
    await other.waitFor('processed', 'obeys');
    const ended = [await operations(), await counts(), await readEffects(db)];

    // This one's result is ready the moment the process goes on.
    hung.open('deaf');
    hung.kill('SIGCONT');
    await hung.waitFor('aborted', 'obeys');
    await hung.waitFor('lost', 'obeys');
    await hung.waitFor('lost', 'deaf');
    expect([hung.heard('processed'), hung.heard('released')]).toEqual([[], []]);
    expect([await operations(), await counts(), await readEffects(db)]).toEqual(ended);
    expect(await tasks()).toMatchObject([
      {
        subject_id: 'deaf',
        status: 'running',
        locked_by: 'other-1',
        fence: 2,
        attempt: 1,
        crashes: 1,
        failures: [{ reason: 'crash' }],
      },
    ]);

    other.open('deaf');
    await queueToBeEmpty();
    expect(await operations()).toMatchObject([
      { subject_id: 'deaf', status: 'OK', output: { by: 'other-1' } },
      { subject_id: 'obeys', status: 'OK', output: { by: 'other-1' } },
    ]);
    expect(await readEffects(db)).toMatchObject([
      { subject: 'deaf', holder: 'other-1' },
      { subject: 'obeys', holder: 'other-1' },
    ]);
    for (const subject of ['obeys', 'deaf']) {
      expect(await takenAfterClaim(subject, new Date(Math.min(...over)))).toBeGreaterThanOrEqual(0);
    }
    expect((await counts()).reduce((sum, row) => sum + row.ended, 0)).toBe(2);

    other.kill('SIGKILL');
    await other.exited;
    await enqueueNow(db, task('hold', 'afterwards'));
    await hung.waitFor('began', 'afterwards');
    hung.open('afterwards');
    expect(await hung.waitFor('processed')).toMatchObject({ subject: 'afterwards', detail: 'ok' });
  });
});

describe('a process after a request to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'on %s finishes runs in time, gives the rest back, takes no new task and ends with code 0 (D7, H2)',
    async (signal) => {
      const { db } = database;
      // Both slots are taken when it stops: so a claim that is under way then cannot take later
      // tasks.
      const stopping = await processes.start({
        name: 'stopping',
        slots: { count: 1, hold: 2 },
        rules: { drainMs: 5_000 },
      });
      await enqueueNow(
        db,
        task('hold', 'finishes'),
        task('hold', 'stays', { payload: { deaf: true } }),
      );
      await stopping.waitFor('began', 'finishes');
      await stopping.waitFor('began', 'stays');
      stopping.kill(signal);
      await stopping.waitFor('stopping');
      await enqueueNow(db, task('hold', 'too late'));
      stopping.open('finishes');
      expect(await stopping.exited).toEqual({ code: 0, signal: null });

      expect(await operations()).toMatchObject([
        { subject_id: 'finishes', status: 'OK', output: { by: 'stopping-1' } },
      ]);
      const rows = await tasks();
      expect(rows.map(({ subject_id }) => subject_id).toSorted()).toEqual(['stays', 'too late']);
      for (const row of rows)
        expect(row).toMatchObject({
          status: 'queued',
          attempt: 0,
          crashes: 0,
          locked_by: null,
          failures: [],
        });
      expect(rows.every(({ due_at }) => due_at.getTime() <= Date.now())).toBe(true);
      expect(stopping.heard('released')).toMatchObject([{ subject: 'stays', detail: 'stopping' }]);
      expect(stopping.heard('failed')).toEqual([]);
      // PostgreSQL may notice a little later.
      await waitFor('its sessions to be gone', async () => {
        const { rows: sessions } =
          await sql`select from pg_stat_activity where application_name like 'stopping%'`.execute(
            db,
          );
        return sessions.length === 0;
      });
    },
  );
});
