import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
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

test('an executor that hangs for longer than its claim wakes up to find its handlers aborted and its settles void: the work was done once, by another (D5, D6)', async () => {
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
  const held = { status: 'running', locked_by: 'other-1', fence: 2, attempt: 1, crashes: 1 };
  expect(await tasks()).toMatchObject([{ subject_id: 'deaf', ...held }]);

  other.open('deaf');
  await queueToBeEmpty();
  const others = { status: 'OK', output: { by: 'other-1' } };
  expect(await operations()).toMatchObject([others, others]);
  expect(await readEffects(db)).toMatchObject([
    { subject: 'deaf', holder: 'other-1' },
    { subject: 'obeys', holder: 'other-1' },
  ]);
  for (const subject of ['obeys', 'deaf'])
    expect(await takenAfterClaim(subject, new Date(Math.min(...over)))).toBeGreaterThanOrEqual(0);
  expect((await counts()).reduce((sum, row) => sum + row.ended, 0)).toBe(2);

  other.kill('SIGKILL');
  await other.exited;
  await enqueueNow(db, task('hold', 'afterwards'));
  await hung.waitFor('began', 'afterwards');
  hung.open('afterwards');
  expect(await hung.waitFor('processed')).toMatchObject({ subject: 'afterwards', detail: 'ok' });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a process that is told to stop by %s finishes runs in time, gives the rest back, takes no new task and ends with code 0 (D7, H2)',
  async (signal) => {
    const { db } = database;
    // Both slots are taken when it stops: so a claim that is under way then cannot take later
    // tasks.
    const rules = { drainMs: 5_000 };
    const slots = { count: 1, hold: 2 };
    const stopping = await processes.start({ name: 'stopping', slots, rules });
    const stays = task('hold', 'stays', { payload: { deaf: true } });
    await enqueueNow(db, task('hold', 'finishes'), stays);
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
    const back = { status: 'queued', attempt: 0, crashes: 0, locked_by: null, failures: [] };
    expect(rows).toMatchObject([back, back]);
    expect(rows.every(({ due_at }) => due_at.getTime() <= Date.now())).toBe(true);
    expect(stopping.heard('released')).toMatchObject([{ subject: 'stays', detail: 'stopping' }]);
    expect(stopping.heard('failed')).toEqual([]);
    await sessionsToEnd(db);
  },
);
