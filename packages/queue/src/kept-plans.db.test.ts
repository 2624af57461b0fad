import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectDatabase } from '@paddock/db/connection/connect';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { type ClaimedTask, claimTasks } from './claim-tasks.ts';
import { endTasks } from './write-settlements.ts';
import { enqueueAlone } from './enqueue.ts';
import { task } from './scenes/executor-under-test.scene.ts';

/** The only connection: every statement keeps the plan of its first execution. */
let plans: ReturnType<typeof connectDatabase>;
afterAll(() => plans.close());
const database = useTestDatabase();
beforeAll(() => {
  const { url, schema } = database;
  plans = connectDatabase({ url, schema, applicationName: 'kept-plans', poolSize: 1 });
});

const claim = (slots: number, takeOver: boolean) =>
  claimTasks(plans.db, {
    holder: 'h',
    slots: { a: slots, b: 1 },
    takeOver,
    claimMs: 60_000,
    keepFailedMs: 60_000,
  });
const settlement = { to: 'ok', processed: 'ok', followOn: [] } as const;
const end = (claimed: readonly ClaimedTask[]) =>
  endTasks(
    plans.db,
    claimed.map(({ id, fence }) => ({ claim: { id, fence, holder: 'h' }, settlement })),
    { okMs: 60_000, failedMs: 60_000 },
  );

/** How much of the table this connection has read: whole scans, and rows fetched by index. */
async function reads(): Promise<{ scans: number; rows: number }> {
  await sql`select pg_stat_force_next_flush()`.execute(plans.db);
  const { rows } = await sql<{ scans: number; rows: number }>`
    select seq_scan as scans, idx_tup_fetch as rows from pg_stat_user_tables where relname = 'tasks' and schemaname = current_schema()`.execute(
    plans.db,
  );
  return rows[0] ?? { scans: Number.NaN, rows: Number.NaN };
}

test('statements whose plans were kept while the queue was empty do not read all of it once it is full', async () => {
  await sql`vacuum analyze tasks`.execute(plans.db);
  for (let n = 0; n < 10; n++) {
    await enqueueAlone(plans.db, [task('a', `first-${n}`)]);
    await end(await claim(5, n % 2 === 0));
    await claim(5, n % 2 !== 0);
  }
  const kept = await sql<{
    plans: number;
  }>`select count(*) as plans from pg_prepared_statements where generic_plans > 0`.execute(
    plans.db,
  );
  expect(kept.rows).toEqual([{ plans: 4 }]);

  const full = Array.from({ length: 5_000 }, (_, n) => task('a', `worker-${n}`));
  const before = await reads();
  await enqueueAlone(plans.db, full);
  for (const takeOver of [false, true])
    expect(await end(await claim(500, takeOver))).toHaveLength(500);
  const after = await reads();
  expect(after.scans - before.scans).toBe(0);
  // Each of the thousand is found when it is due, when it is taken and when it ends.
  expect(after.rows - before.rows).toBeLessThan(10_000);
});
