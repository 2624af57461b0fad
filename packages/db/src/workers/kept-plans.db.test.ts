import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { connectDatabase } from '../connection/connect.ts';
import { recordPodStates } from './worker-pods.ts';

/** The only connection: every statement keeps the plan of its first executions. */
let plans: ReturnType<typeof connectDatabase>;
afterAll(() => plans.close());
const database = useTestDatabase();
beforeAll(() => {
  const { url, schema } = database;
  plans = connectDatabase({ url, schema, applicationName: 'kept-plans', poolSize: 1 });
});

/** How many entries of indexes of workers this connection has read. */
async function reads(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(plans.db);
  const { rows } = await sql<{ entries: number }>`
    select sum(idx_tup_read)::integer as entries from pg_stat_user_indexes where relname = 'workers' and schemaname = current_schema()`.execute(
    plans.db,
  );
  return rows[0]?.entries ?? Number.NaN;
}

/** The pod of a new worker runs on its node. */
async function changePod(): Promise<void> {
  const { pod_name: podName } = await putWorker(plans.db);
  const pod = { podName, podUid: podName, podCreatedAt: new Date(), node: 'a', runningAt: null };
  const end = { endedAt: null, exitCode: null, isRunnerOver: false, endedBy: null, message: null };
  const leave = { isUnschedulable: false, terminatingAt: null, terminatingSeconds: null };
  const reasons = { stuckReason: null, failureReason: null };
  const state = { ...pod, ...end, ...leave, ...reasons, phase: 'running' } as const;
  const { changed, unknown } = await recordPodStates(plans.db, [state], 1_000);
  expect(changed).toMatchObject([{ podName, status: 'running' }]);
  expect(unknown).toEqual([]);
}

test('a pod’s change looks its worker up, though the plan was kept while there were few', async () => {
  for (let n = 0; n < 10; n++) await changePod();
  for (let n = 0; n < 500; n++) await putWorker(plans.db);
  const before = await reads();
  await changePod();
  expect((await reads()) - before).toBeLessThan(20);
});
