import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { executorEvents } from './executor-events.ts';
import {
  enqueueNow,
  type RunningExecutor,
  startExecutor,
  task,
} from './scenes/executor-under-test.scene.ts';
import type { Handler } from './kind.ts';
import { done, poison, snooze } from './outcome.ts';
import { declareQueueDepth } from './queue-depth.ts';

const database = useTestDatabase();
let running: RunningExecutor | undefined;
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));
afterEach(() => running?.stop());

/** The samples of a page of metrics, by name and labels. */
async function samplesOf({
  registry,
}: ReturnType<typeof createMetrics>): Promise<Map<string, number>> {
  const lines = (await registry.metrics())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

const processed = (outcome: string) =>
  `paddock_task_processed_total{kind="a",outcome="${outcome}"}`;

test('counts every end of a run once, with the running tasks and the duration (D8)', async () => {
  const { db } = database;
  const metrics = createMetrics();
  const release = Promise.withResolvers<void>();
  const handler: Handler = async ({ subject: { id } }) => {
    switch (id) {
      case 'fails':
        throw new Error('502');
      case 'bad':
        return poison('no such row');
      case 'waits':
        return snooze(3_600_000, 'at the limit');
      case 'runs':
        await release.promise;
        return done();
      default:
        return done();
    }
  };
  running = startExecutor(
    database,
    { a: { handler, slots: 8 }, idle: { handler, slots: 1 } },
    {
      events: executorEvents(metrics, SILENT_LOG),
      pollMs: 20,
      claimMs: 30_000,
      backoff: { firstMs: 1, longestMs: 1 },
    },
  );
  // One that a dead executor left behind, and one that three had left behind before.
  await enqueueNow(db, task('a', 'left behind'), task('a', 'crashed for the fourth time'));
  await waitFor(
    'both to end',
    async () => (await sql`select from tasks`.execute(db)).rows.length === 0,
  );
  await sql`insert into tasks (kind, subject_type, subject_id, status, attempt, max_attempts, crashes, max_crashes, fence, locked_by, locked_until, started_at)
            select 'a', 'worker', given.id, 'running', 1, 5, given.crashes, 3, 1, 'gone', now() - interval '1 hour', now() - interval '1 hour'
            from (values ('left behind', 0), ('crashed for the fourth time', 3)) given(id, crashes)`.execute(
    db,
  );
  await enqueueNow(
    db,
    ...['good', 'bad', 'waits', 'fails', 'runs'].map((subject) =>
      task('a', subject, { maxAttempts: 3 }),
    ),
  );

  const samples = async () => samplesOf(metrics);
  await waitFor(
    'the last failed run',
    async () => ((await samples()).get(processed('failed')) ?? 0) === 2,
  );
  await waitFor(
    'all others but one to be settled',
    async () => (await samples()).get('paddock_task_duration_seconds_count{kind="a"}') === 9,
  );
  const now = await samples();
  expect(
    Object.fromEntries(
      ['ok', 'retry', 'failed', 'poison', 'snoozed'].map((outcome) => [
        outcome,
        now.get(processed(outcome)),
      ]),
    ),
  ).toEqual({
    ok: 4, // the two of the beginning, the one left behind, the good one
    retry: 2,
    failed: 2, // the third failure, and the fourth crash
    poison: 1,
    snoozed: 1,
  });
  expect(now.get('paddock_events_total{event="taskTakenOver"}')).toBe(1);
  expect(now.get('paddock_task_in_flight{kind="a"}')).toBe(1);
  // A kind is there before it has run: a missing series and a zero are not the same to an alert.
  expect(now.get('paddock_task_in_flight{kind="idle"}')).toBe(0);
  release.resolve();
  await waitFor('the last run', async () => (await samples()).get(processed('ok')) === 5);
  expect((await samples()).get('paddock_task_in_flight{kind="a"}')).toBe(0);
  expect((await samples()).get('paddock_task_duration_seconds_sum{kind="a"}')).toBeGreaterThan(0);
});

test('a run whose task was lost is counted as lost, and as nothing else (D6, D8)', async () => {
  const { db } = database;
  const metrics = createMetrics();
  const release = Promise.withResolvers<void>();
  let runs = 0;
  const handler: Handler = async () => {
    runs++;
    await release.promise;
    return done();
  };
  running = startExecutor(
    database,
    { a: { handler, slots: 1 } },
    { events: executorEvents(metrics, SILENT_LOG) },
  );
  await enqueueNow(db, task('a', 'x'));
  await waitFor('the run', () => runs === 1);
  await sql`update tasks set locked_by = 'another', fence = fence + 1`.execute(db);
  release.resolve();
  await waitFor(
    'the settle',
    async () => (await samplesOf(metrics)).get('paddock_events_total{event="taskLost"}') === 1,
  );
  expect(
    [...(await samplesOf(metrics)).keys()].filter((key) =>
      key.startsWith('paddock_task_processed_total{'),
    ),
  ).toEqual([]);
});

test('the depth and the age of due tasks show a kind without an executor (D8, D11)', async () => {
  const { db } = database;
  const metrics = createMetrics();
  running = startExecutor(
    database,
    { a: { handler: () => Promise.resolve(done()), slots: 1 } },
    { events: executorEvents(metrics, SILENT_LOG) },
  );
  await enqueueNow(
    db,
    task('unknown', 'x'),
    task('unknown', 'later', { dueInMs: 3_600_000 }),
    task('a', 'x'),
  );
  await sql`update tasks set due_at = now() - interval '10 min' where kind <> 'a' and subject_id = 'x'`.execute(
    db,
  );
  declareQueueDepth(metrics, db);
  await waitFor(
    'the other kind',
    async () => (await samplesOf(metrics)).get(processed('ok')) === 1,
  );
  // A reading is shared by all who ask within a second.
  await waitFor(
    'a reading since then',
    async () => !(await samplesOf(metrics)).has('paddock_task_due{kind="a"}'),
  );
  const now = await samplesOf(metrics);
  expect(now.get('paddock_task_due{kind="unknown"}')).toBe(1);
  expect(now.get('paddock_task_queued{kind="unknown"}')).toBe(2);
  expect(now.get('paddock_task_oldest_due_seconds{kind="unknown"}')).toBeGreaterThanOrEqual(600);
});
