import { beforeEach, describe, expect, test } from '@jest/globals';
import { listOperationsEndpoint } from '@paddock/api/operations/list-operations';
import { countOperationsEndpoint, findOperationEndpoint } from '@paddock/api/operations/operation';
import { drainPoolEndpoint } from '@paddock/api/pools/pools';
import { resyncRepositoryEndpoint } from '@paddock/api/repositories/resync';
import { ask } from '@paddock/api/scenes/ask.scene';
import { runSweepEndpoint } from '@paddock/api/sweeps/run-sweep';
import { liftSwitchEndpoint } from '@paddock/api/switches/switches';
import { drainWorkerEndpoint } from '@paddock/api/workers/workers';
import { useConsole } from '@paddock/console/scenes/console.scene';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { useSweeps } from '@paddock/reconciler/scenes/sweeps.scene';
import {
  useSchedulerWorld,
  useStopScene,
} from '@paddock/scheduler/scenes/use-scheduler-world.scene';
import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { examplePools, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { sql } from 'kysely';

describe('the reconciler does what people ask the console for (F1, F5)', () => {
  const { database } = useConsole();
  const sweeps = useSweeps(database);

  beforeEach(async () => {
    const { db } = database;
    const { appId, organization } = sweeps.scene.world;
    await sql`truncate actions`.execute(db);
    await putPools(db, examplePools());
    await putInstallation(db, installationOf(organization));
    await db
      .insertInto('schedules')
      .values({ name: `redeliver:${appId}`, last_tick_at: new Date() })
      .execute();
  });

  const find = (operation: string) => ask(findOperationEndpoint, database.db, { operation });

  /** Runs what is due, as the reconciler does. Returns what people see as each run begins. */
  async function run() {
    const seen: Awaited<ReturnType<typeof find>>[] = [];
    const kinds = Object.fromEntries(
      Object.entries(sweeps.kinds).map(([name, { slots, handler }]) => [
        name,
        {
          slots,
          handler: async (...given: Parameters<typeof handler>) => {
            seen.push(await find(given[0].id));
            return handler(...given);
          },
        },
      ]),
    );
    await runDueTasks({ db: database.dbOf('reconciler'), kinds });
    return seen;
  }

  test('a resync finds a job whose delivery got lost, and its operation answers all along', async () => {
    const { id: jobId } = await sweeps.scene.world.github.queueJob({
      repo: 'acme/api',
      labels: ['linux'],
    });
    const input = { owner: 'acme', repository: 'api', note: 'it does not start' };
    const asked = await ask(resyncRepositoryEndpoint, database.db, input);
    expect(await find(asked.id)).toMatchObject({ status: 'QUEUED', startedAt: null });
    const [running] = await run();
    expect(running).toMatchObject({
      id: asked.id,
      status: 'RUNNING',
      startedAt: expect.any(String),
    });
    expect(await find(asked.id)).toMatchObject({
      status: 'OK',
      origin: 'MANUAL',
      requestedBy: 'ada',
      askers: [{ person: 'ada', note: 'it does not start' }],
      output: { runs: 1, found: 1, isComplete: true },
    });
    const jobs = await database.db.selectFrom('jobs').select('job_id').execute();
    expect(jobs).toEqual([{ job_id: jobId }]);
    const again = await ask(resyncRepositoryEndpoint, database.db, input);
    const list = await ask(listOperationsEndpoint, database.db, { subject: 'repository:acme/api' });
    expect(list.items.map(({ id, status }) => [id, status])).toEqual([
      [again.id, 'QUEUED'],
      [asked.id, 'OK'],
    ]);
  });

  test('an expired operation is not found, and the counts have it (F2, F3)', async () => {
    const { id } = await ask(runSweepEndpoint, database.db, { sweep: 'upkeep' });
    await run();
    await sql`update operations set expires_at = now() - interval '1 second'`.execute(database.db);
    await expect(find(id)).rejects.toMatchObject({ status: 404 });
    await ask(runSweepEndpoint, database.db, { sweep: 'upkeep' });
    await run();
    await expect(find(id)).rejects.toMatchObject({ status: 404 });
    const { items } = await ask(countOperationsEndpoint, database.db, { from: '-1h' });
    expect(items).toContainEqual(
      expect.objectContaining({ kind: 'upkeep', outcome: 'OK', ended: 2 }),
    );
  });
});

describe('what people drain ends by the scheduler’s proofs (F5, E5)', () => {
  const world = useSchedulerWorld();
  const scene = useStopScene(world);
  beforeEach(() => emptyTables(world.db, ['actions', 'switches', 'operations']));

  const find = (operation: string) => ask(findOperationEndpoint, world.db, { operation });

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
