import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { drainPoolEndpoint } from '@paddock/api/pools/pools';
import { ask } from '@paddock/api/scenes/ask.scene';
import { liftSwitchEndpoint } from '@paddock/api/switches/switches';
import { drainWorkerEndpoint } from '@paddock/api/workers/workers';
import {
  useSchedulerWorld,
  useStopScene,
} from '@paddock/scheduler/scenes/use-scheduler-world.scene';
import { emptyTables } from '@paddock/testing/empty-tables';

const world = useSchedulerWorld();
const scene = useStopScene(world);
beforeEach(() => emptyTables(world.db, ['actions', 'switches', 'operations']));
afterEach(() => scene.cancelAll());

const find = (operation: string) => ask(findOperationEndpoint, world.db, { operation });

describe('what people drain ends by the scheduler’s proofs (F5, E5)', () => {
  test('an idle worker ends, with its operation', async () => {
    const worker = await scene.idleWorker();
    const asked = await ask(drainWorkerEndpoint, world.db, { worker, note: 'a bad node' });
    expect(asked).toMatchObject({ kind: 'stop-worker', subject: { id: worker }, status: 'QUEUED' });
    await scene.letEnd(worker);
    expect(await scene.row(worker)).toMatchObject({ stop_reason: 'drained' });
    expect((await scene.row(worker)).completed_at).not.toBeNull();
    expect(await scene.runner(worker)).toBeUndefined();
    expect(await find(asked.id)).toMatchObject({ origin: 'MANUAL', requestedBy: 'ada' });
  });

  test('a worker that GitHub gives a job meanwhile is kept, and its operation says so', async () => {
    const { podName: worker, jobId } = await scene.busyWorker();
    const asked = await ask(drainWorkerEndpoint, world.db, { worker });
    await scene.letEnd(worker);
    await scene.expectWorking(worker, jobId);
    expect(await find(asked.id)).toMatchObject({
      status: 'OK',
      output: { kept: expect.any(String) },
    });
    const again = ask(drainWorkerEndpoint, world.db, { worker });
    await expect(again).rejects.toMatchObject({ status: 409 });
  });

  test('of a pool the idle ones end, the busy one works on, and none is made until it is resumed', async () => {
    const { podName: busy, jobId } = await scene.busyWorker();
    const idle = await scene.idleWorker();
    await world.db
      .updateTable('workers')
      .set({ assigned_at: new Date(), assigned_job_id: jobId })
      .where('pod_name', '=', busy)
      .execute();
    const drained = await ask(drainPoolEndpoint, world.db, { pool: 'linux' });
    expect(drained).toMatchObject({ status: 'OK', output: { stopping: 1, busy: 1 } });
    const waiting = await world.queueJob();
    await world.match();
    await scene.letEnd(idle);
    expect(await scene.row(idle)).toMatchObject({ stop_reason: 'drained' });
    expect((await scene.row(idle)).completed_at).not.toBeNull();
    await scene.expectWorking(busy, jobId);
    await world.match();
    const madeFor = async () => (await world.workers()).map((row) => row.made_for_job_id);
    expect(await madeFor()).not.toContain(waiting);
    await ask(liftSwitchEndpoint, world.db, { subject: 'pool:linux' });
    await world.match();
    expect(await madeFor()).toContain(waiting);
  });
});
