import { afterEach, describe, expect, test } from '@jest/globals';
import { markJobsInDoubt } from '@paddock/db/jobs/jobs-in-doubt';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const scene = useStopScene(world);
afterEach(() => scene.cancelAll());

/** As the deliveries of a job leave it. */
async function bind(
  podName: string,
  jobId: number,
  status: 'running' | 'completed',
): Promise<void> {
  const assigned = { assigned_job_id: jobId, assigned_at: new Date() };
  await world.db.updateTable('workers').set(assigned).where('pod_name', '=', podName).execute();
  const known = { status, wants_worker: false, k8s_pod: podName, runner_name: podName };
  await world.db.updateTable('jobs').set(known).where('job_id', '=', jobId).execute();
}

/**
 * A worker whose runner has ended its job beside a container that a webhook has added, and that
 * goes on.
 */
async function workerBesideOthers(): Promise<{ podName: string; jobId: number }> {
  await world.putPools(
    examplePools({
      pools: [{ template: { metadata: { annotations: { 'test.paddock/inject': 'proxy' } } } }],
    }),
  );
  let jobId = 0;
  const podName = await scene.makeWorker(async () => (jobId = await world.queueJob()));
  await waitFor(
    'the runner to end',
    async () => (await scene.pod(podName))?.runner.state === 'terminated',
  );
  await scene.follow();
  return { podName, jobId };
}

const assign = (podName: string) =>
  world.db
    .updateTable('workers')
    .set({ assigned_at: new Date() })
    .where('pod_name', '=', podName)
    .execute();
const isStopping = async (podName: string) => (await scene.row(podName)).stopping_at !== null;

describe('a worker that has had its job and lives on (E5)', () => {
  test('beside a container that continues, with a job whose end is unknown: the job is in doubt, and the worker waits for its end', async () => {
    const { podName, jobId } = await workerBesideOthers();
    await bind(podName, jobId, 'running');
    await scene.askToStop(podName, 'over');
    expect(await isStopping(podName)).toBe(false);
    await world.db
      .updateTable('workers')
      .set({ runner_ended_at: minutesAgo(11) })
      .execute();
    const days = { silenceMs: 86_400_000, queuedAtMostMs: 172_800_000 };
    const rules = {
      stuckAfterMs: 600_000,
      firstLookMs: 3_600_000,
      longestLookMs: 21_600_000,
      limit: 3,
      perKey: 10,
      batch: 100,
      ...days,
    };
    expect(await markJobsInDoubt(world.db, rules)).toMatchObject([
      { jobId, doubt: 'worker_ended' },
    ]);
  });

  test('that GitHub called busy once and idle ever since, and whose log shows that it waits: it is deregistered, and ends', async () => {
    const podName = await scene.idleWorker();
    await assign(podName);
    await scene.askToStop(podName, 'over');
    await waitFor('its row to end', async () => {
      await scene.letEnd(podName);
      return (await scene.row(podName)).completed_at !== null;
    });
    expect(await scene.runner(podName)).toBeUndefined();
    expect(await scene.row(podName)).toMatchObject({ stop_reason: 'over', stop_held_by: null });
  });
});

describe('a working runner is never stopped as one that has had its job (P2)', () => {
  test('whose job has not ended: it is not even asked for', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await bind(podName, jobId, 'running');
    await scene.askToStop(podName, 'over');
    expect(await isStopping(podName)).toBe(false);
  });

  test.each([false, true])(
    'whose job is unknown, or which has another that is over, and `busy` lies: %s',
    async (busyLies) => {
      const { podName, jobId } = await scene.busyWorker();
      const overJob = await world.queueJob();
      await bind(podName, overJob, 'completed');
      await world.db.deleteFrom('jobs').where('job_id', '=', jobId).execute();
      if (busyLies) await world.gitHub.setRunnerFaults({ busyLies });
      await scene.askToStop(podName, 'over');
      expect(await isStopping(podName)).toBe(true);
      await scene.letEnd(podName);
      expect(await scene.row(podName)).toMatchObject({
        status: 'running',
        stopping_at: null,
        deregistration_started_at: null,
      });
      await world.gitHub.setRunnerFaults({ busyLies: false });
      await scene.expectWorking(podName, jobId);
    },
  );

  test('whose job becomes known while it is stopped', async () => {
    const { podName, jobId } = await scene.busyWorker();
    await world.gitHub.setRunnerFaults({ busyLies: true });
    await assign(podName);
    await scene.askToStop(podName, 'over');
    await world.runTasks();
    await bind(podName, jobId, 'running');
    await scene.letTimePass();
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({
      status: 'running',
      stopping_at: null,
      registration_gone_at: null,
    });
    await world.gitHub.setRunnerFaults({ busyLies: false });
    await scene.expectWorking(podName, jobId);
  });
});
