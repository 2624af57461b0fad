import { beforeEach, describe, expect, test } from '@jest/globals';
import { liftSwitch, setSwitch } from '@paddock/db/switches';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { drainPool } from './drain-pool.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['workers', 'tasks', 'switches']);
  await setSwitch(database.db, 'pool:linux', 'ada');
});

const drain = (dryRun = false) => drainPool(database.dbOf('reconciler'), 'linux', { dryRun });
const put = async (given: Parameters<typeof putWorker>[1] = {}) =>
  (await putWorker(database.db, given)).pod_name;
const stops = async () =>
  (
    await database.db
      .selectFrom('workers')
      .select('pod_name')
      .where('stop_reason', '=', 'drained')
      .orderBy('pod_name')
      .execute()
  ).map((row) => row.pod_name);
const tasks = async () =>
  (
    await database.db
      .selectFrom('tasks')
      .select('subject_id')
      .where('kind', '=', 'stop-worker')
      .orderBy('subject_id')
      .execute()
  ).map((row) => row.subject_id);

describe('draining a pool (F5)', () => {
  test('asks each worker to stop that no job is known to run on, once', async () => {
    const now = new Date();
    const wanted = [
      await put(),
      await put({ status: 'running', running_at: now, registered_at: now }),
      // It would serve the next job.
      await put({ stopping_at: now, stop_reason: 'surplus' }),
    ];
    await put({ status: 'running', assigned_at: now });
    await put({ status: 'completed', completed_at: now });
    await put({ stopping_at: now, stop_reason: 'offline' });
    await put({ stopping_at: now, stop_reason: 'surplus', deregistration_started_at: now });
    await put({ k8s_pool: 'gpu' });

    expect(await drain(true)).toEqual({ stopping: 3, busy: 1 });
    expect([await stops(), await tasks()]).toEqual([[], []]);
    expect(await drain()).toEqual({ stopping: 3, busy: 1 });
    expect(await stops()).toEqual(wanted.toSorted());
    expect(await tasks()).toEqual(wanted.toSorted());
    expect(await drain()).toEqual({ stopping: 0, busy: 1 });
  });

  test('leaves all workers once its making was resumed', async () => {
    await putWorker(database.db);
    await liftSwitch(database.db, 'pool:linux');
    expect(await drain()).toContain('resumed');
    expect([await stops(), await tasks()]).toEqual([[], []]);
  });

  test('requests nothing if the tasks cannot be written', async () => {
    await putWorker(database.db);
    await database.db.schema.alterTable('tasks').renameTo('mislaid').execute();
    await expect(drain()).rejects.toThrow(/tasks/);
    await database.db.schema.alterTable('mislaid').renameTo('tasks').execute();
    expect(await stops()).toEqual([]);
  });
});
