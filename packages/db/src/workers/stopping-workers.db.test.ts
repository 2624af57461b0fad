import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putJob } from '@paddock/testing/demand-rows';
import { putWorker } from '@paddock/testing/worker-rows';
import { untilBlocked } from '@paddock/testing/until-blocked';
import { findFittingRuns } from './runner-readings.ts';
import { requestStops } from './worker-stops.ts';
import { findWorkerToStop, markDeregistering, noteRunsRead } from './stopping-workers.ts';

const testDb = useTestDatabase();

const ASKS = {
  'asked to stop': (podName: string) =>
    testDb.db
      .transaction()
      .execute(async (trx) => (await requestStops(trx, [{ podName, reason: 'over' }])).length > 0),
  deregistered: (podName: string) => markDeregistering(testDb.db, podName),
};

test.each([
  ['asked to stop', {}],
  ['deregistered', { stopping_at: new Date(), stop_reason: 'over' }],
] as const)(
  'a worker believed to have had its job is not %s while a delivery binds it to one that runs (P2)',
  async (what, stopping) => {
    const { pod_name: podName } = await putWorker(testDb.db, {
      status: 'running',
      assigned_at: new Date(),
      ...stopping,
    });
    const { asked } = await testDb.db.transaction().execute(async (trx) => {
      const { job_id } = await putJob(trx, { status: 'running', wants_worker: false });
      await trx
        .updateTable('workers')
        .set({ assigned_job_id: job_id })
        .where('pod_name', '=', podName)
        .execute();
      const asking = ASKS[what](podName);
      await untilBlocked(testDb.db);
      return { asked: asking };
    });
    expect(await asked).toBe(false);
  },
);

test('a worker may run any job of its entity, in any pool, that has no label beyond the worker’s and is not known to run (E5, P2)', async () => {
  const { pod_name: podName } = await putWorker(testDb.db, {
    status: 'running',
    registered_labels: '["gpu", "linux"]',
  });
  await putJob(testDb.db, { run_id: 1, k8s_pool: 'of-others' });
  await putJob(testDb.db, { run_id: 2, wants_worker: false });
  await putJob(testDb.db, { run_id: 3, status: 'failed' });
  await putJob(testDb.db, { run_id: 4, job_labels: '["linux", "windows"]' });
  await putJob(testDb.db, { run_id: 5, entity_id: 7 });
  await putJob(testDb.db, { run_id: 6, status: 'running', wants_worker: false });
  const runs = async (limit: number, readFrom: number | null = null) =>
    (await findFittingRuns(testDb.db, podName, { limit, readFrom })).map(({ runId }) => runId);
  expect(await runs(3)).toEqual([3, 2, 1]);
  expect(await runs(1)).toHaveLength(2);
  expect(await runs(3, 3)).toEqual([2, 1]);
});

test('runs that were read before the deregistration are read again after it (P2)', async () => {
  const { pod_name: podName } = await putWorker(testDb.db, {
    stopping_at: new Date(),
    stop_reason: 'idle',
    stop_held_by: 'its log cannot be read',
    stop_held_since: new Date(),
  });
  const stopping = () => findWorkerToStop(testDb.db, podName, []);
  await noteRunsRead(testDb.db, podName, 7);
  expect(await stopping()).toMatchObject({ runsReadFrom: 7, heldBy: 'its log cannot be read' });
  expect(await markDeregistering(testDb.db, podName)).toBe(true);
  expect(await stopping()).toMatchObject({ runsReadFrom: null, heldBy: null });
});
