import { afterEach, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import {
  enqueueNow,
  type RunningExecutor,
  startExecutor,
  task,
} from './scenes/executor-under-test.scene.ts';
import type { Handler } from './kind.ts';
import { done } from './outcome.ts';

const database = useTestDatabase();
let running: RunningExecutor | undefined;
afterEach(() => running?.stop());

test('10 000 tasks of one kind that have been due for long do not hold up another kind, while they run and while they are stuck (D11)', async () => {
  const { db } = database;
  await sql`insert into tasks (kind, subject_type, subject_id, max_attempts, max_crashes, due_at)
            select 'flood', 'worker', 'w-' || n, 5, 3, now() - interval '1 hour' from generate_series(1, 10000) n`.execute(
    db,
  );
  const release = Promise.withResolvers<void>();
  let stuck = false;
  let floodRuns = 0;
  let floodRunning = 0;
  const flood: Handler = async () => {
    floodRuns++;
    floodRunning++;
    if (stuck) await release.promise;
    floodRunning--;
    return done();
  };
  const other: { subject: string; floodRuns: number }[] = [];
  const quick: Handler = ({ subject: { id } }) => {
    other.push({ subject: id, floodRuns });
    return Promise.resolve(done());
  };
  running = startExecutor(database, {
    flood: { handler: flood, slots: 8 },
    quick: { handler: quick, slots: 1 },
  });

  for (const subject of ['first', 'second', 'third']) {
    const before = floodRuns;
    await waitFor('the flood to run', () => floodRuns > before);
    await enqueueNow(db, task('quick', subject));
    // After the commit, however long that took: earlier runs of the flood prove nothing.
    const enqueued = floodRuns;
    const run = await waitFor(`the ${subject}`, () => other.find((one) => one.subject === subject));
    // A claim or two of eight, not thousands.
    expect(run.floodRuns - enqueued).toBeLessThan(500);
  }
  stuck = true;
  await waitFor('every slot of the flood to be taken', () => floodRunning === 8);
  await enqueueNow(db, task('quick', 'fourth'));
  await waitFor('the fourth', () => other.length === 4);
  const { rows } = await sql`select from tasks where kind = 'flood'`.execute(db);
  // More of the flood than the slots hold: some of it is due.
  expect(rows.length).toBeGreaterThan(8);
  release.resolve();
});
