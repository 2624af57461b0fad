import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { ask } from '../scenes/ask.scene.ts';
import { drainWorkerEndpoint } from './workers.ts';

const database = useTestDatabase();
beforeEach(() => emptyTables(database.db, ['workers', 'tasks', 'actions']));

const now = new Date();
const put = async (given: Parameters<typeof putWorker>[1] = {}) =>
  (await putWorker(database.db, given)).pod_name;
const drain = (worker: string) => ask(drainWorkerEndpoint, database.db, { worker });
const row = () =>
  database.db
    .selectFrom('workers')
    .select(['stopping_at', 'stop_reason'])
    .executeTakeFirstOrThrow();

describe('draining a worker (F5)', () => {
  test.each([
    ['is idle', {}],
    ['stops until a job needs it', { stopping_at: now, stop_reason: 'surplus' }],
  ])('that %s requests its stop for good', async (_what, given) => {
    const worker = await put(given);
    expect(await drain(worker)).toMatchObject({
      kind: 'stop-worker',
      subject: { type: 'worker', id: worker },
      origin: 'MANUAL',
      requestedBy: 'ada',
    });
    expect(await row()).toEqual({ stopping_at: expect.any(Date), stop_reason: 'drained' });
  });

  test.each([
    ['has ended', { status: 'failed', completed_at: now } as const, 409],
    ['runs a job', { status: 'running', assigned_at: now } as const, 409],
  ])('that %s is refused', async (_what, given, status) => {
    const worker = await put(given);
    await expect(drain(worker)).rejects.toMatchObject({ status });
    expect(await row()).toEqual({ stopping_at: null, stop_reason: null });
    expect(await database.db.selectFrom('tasks').select('id').execute()).toEqual([]);
  });
});
