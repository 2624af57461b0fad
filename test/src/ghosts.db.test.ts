import { matchOnce } from '@paddock/scheduler/scenes/matching.scene';
import { requestStops } from '@paddock/db/workers/worker-stops';
import type { StopReason } from '@paddock/domain/workers/stop-reasons';

import { describe, expect, test } from '@jest/globals';
import { useJobsScene } from '@paddock/reconciler/scenes/jobs.scene';
import { useTestDatabase } from '@paddock/testing/use-test-database';

const scene = useJobsScene(useTestDatabase());

/** One pass of the matcher: for how many jobs a worker is made, and how many keys are paused. */
const match = async () => {
  const { reserved, unserved } = await matchOnce(scene.db);
  return { made: reserved.length, paused: unserved.length };
};
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);

/** A job for which a worker is made. */
async function addServed(): Promise<number> {
  const job = await scene.addJob({ row: { lookup_due_at: null, created_at: inMinutes(-20) } });
  expect(await match()).toEqual({ made: 1, paused: 0 });
  return job;
}

/** All workers are stopped for this reason. */
async function stopWorkers(reason: StopReason): Promise<void> {
  const workers = await scene.db
    .selectFrom('workers')
    .select('pod_name')
    .where('stopping_at', 'is', null)
    .execute();
  const stops = workers.map(({ pod_name: podName }) => ({ podName, reason }));
  await scene.db.transaction().execute((trx) => requestStops(trx, stops));
}

const endStopped = () =>
  scene.db
    .updateTable('workers')
    .set({ status: 'failed', completed_at: new Date() })
    .where('stopping_at', 'is not', null)
    .where('status', '=', 'pending')
    .execute();

describe('a job that was cancelled unheard (E4, P3)', () => {
  // A table of domain has all reasons after which jobs are looked up.
  test.each(['pending_timeout', 'not_assigned'] as const)(
    'gets no second worker after the first ended by %s: a look-up comes before',
    async (reason) => {
      const ghost = await addServed();
      await scene.world.github.cancelJob(ghost);
      await stopWorkers(reason);
      expect(await match()).toEqual({ made: 0, paused: 0 });
      expect(await scene.lookUp()).toMatchObject({ jobs: 1, stated: 1, graces: 1 });
      expect(await scene.row(ghost)).toMatchObject({ status: 'completed', wants_worker: false });
      expect(await match()).toEqual({ made: 0, paused: 0 });
    },
  );

  test('delays no job of its key that comes later', async () => {
    await scene.world.github.cancelJob(await addServed());
    await stopWorkers('not_assigned');
    await scene.addJob({ row: { lookup_due_at: null, created_at: inMinutes(1) } });
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, graces: 1 });
    expect(await match()).toEqual({ made: 1, paused: 0 });
  });

  test('ends the pause of its key once it is found out', async () => {
    const ghost = await addServed();
    for (const paused of [0, 1]) {
      await stopWorkers('not_assigned');
      await scene.lookUp();
      expect(await match()).toEqual({ made: 1 - paused, paused });
      await endStopped();
    }
    await scene.world.github.cancelJob(ghost);
    await scene.db
      .updateTable('jobs')
      .set({ lookup_due_at: new Date(0) })
      .execute();
    expect(await scene.lookUp()).toMatchObject({ stated: 1 });
    await scene.addJob({ row: { lookup_due_at: null } });
    expect(await match()).toEqual({ made: 1, paused: 0 });
  });
});

test('a job that GitHub still calls queued after its worker was stopped gets another worker as soon as GitHub has said so, and its key is not blamed (E4)', async () => {
  await addServed();
  await stopWorkers('not_registered');
  expect(await match()).toEqual({ made: 0, paused: 0 });
  expect(await scene.lookUp()).toMatchObject({ queued: 1, graces: 1 });
  expect(await match()).toEqual({ made: 1, paused: 0 });
  const failing = scene.db.selectFrom('demand_keys').selectAll().where('failures', '>', 0);
  expect(await failing.execute()).toEqual([]);
});
