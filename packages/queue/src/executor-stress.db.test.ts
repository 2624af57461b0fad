import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { enqueue } from './enqueue.ts';
import { startExecutor, task } from './scenes/executor-under-test.scene.ts';
import { done, type Handler, snooze } from './kind.ts';

const database = useTestDatabase();

const SUBJECTS = 4;
const ENQUEUERS = 6;
const ROUNDS = 40;

test('among many enqueuers and executors no wake-up is lost and no two runs of a subject overlap (D2, D14)', async () => {
  const { db } = database;
  await sql`create table wanted (subject text primary key, version integer not null)`.execute(db);
  await sql`insert into wanted select 's-' || n, 0 from generate_series(0, ${SUBJECTS - 1}::integer) n`.execute(
    db,
  );
  const versions = async () => {
    const { rows } = await sql<{ subject: string; version: number }>`select * from wanted`.execute(
      db,
    );
    return new Map(rows.map(({ subject, version }) => [subject, version]));
  };
  const handled = new Map<string, number>();
  const running = new Set<string>();
  let overlaps = 0;
  let runs = 0;
  const handler: Handler = async ({ subject: { id } }) => {
    if (running.has(id)) overlaps++;
    running.add(id);
    const version = (await versions()).get(id) ?? 0;
    running.delete(id);
    runs++;
    // Every way in which a run can go back meets successors that are being enqueued.
    if (runs % 3 === 0) return snooze(runs % 5, 'not now');
    if (runs % 7 === 0) throw new Error('not now');
    handled.set(id, version);
    return done(
      undefined,
      runs % 4 === 0 ? [task('a', `s-${runs % SUBJECTS}`, { maxAttempts: 1_000 })] : [],
    );
  };
  const rules = { pollMs: 20, backoff: { firstMs: 1, longestMs: 5 } };
  const executors = Array.from({ length: 3 }, () =>
    startExecutor(database, { a: { handler, slots: 3 } }, rules),
  );
  await Promise.all(
    Array.from({ length: ENQUEUERS }, async (_, enqueuer) => {
      for (let round = 0; round < ROUNDS; round++) {
        const subject = `s-${(enqueuer + round) % SUBJECTS}`;
        await db.transaction().execute(async (trx) => {
          await sql`update wanted set version = version + 1 where subject = ${subject}`.execute(
            trx,
          );
          await enqueue(trx, [task('a', subject, { maxAttempts: 1_000 })]);
        });
      }
    }),
  );
  await waitFor(
    'the queue to be empty',
    async () => (await sql`select from tasks limit 1`.execute(db)).rows.length === 0,
  );
  await Promise.all(executors.map(({ stop }) => stop()));

  expect(handled).toEqual(await versions());
  expect(overlaps).toBe(0);
  for (const { told } of executors) expect([told.lost, told.failed]).toEqual([[], []]);
  const { rows: ended } = await sql<{ operations: number; counted: number }>`
    select (select count(*) from operations) as operations, (select sum(ended)::integer from task_counts) as counted`.execute(
    db,
  );
  expect(ended[0]?.operations).toBe(ended[0]?.counted);
});
