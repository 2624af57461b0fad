import { describe, expect, test } from '@jest/globals';
import { bothEnds, type StalledCall } from '../scenes/stalled-run.scene.ts';
import {
  useSchedulerWorld,
  useStalledRuns,
  useStopScene,
} from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const scene = useStopScene(world);
const runs = useStalledRuns(world);

/** Made only where the log cannot be read. */
const RUN_JOBS = '/runs/[^/]+/jobs$';
const CALLS = [
  { what: 'looking for the pod', side: 'cluster', method: 'GET', path: '/pods/[^/]+$' },
  { what: 'looking for the runner', side: 'github', method: 'GET', path: '/actions/runners$' },
  { what: 'looking for its job', side: 'github', method: 'GET', path: RUN_JOBS },
  { what: 'reading its log', side: 'cluster', method: 'GET', path: '/log$' },
  { what: 'deregistering it', side: 'github', method: 'DELETE', path: '/actions/runners/[^/]+$' },
] as const;
const STEPS = bothEnds(CALLS);

/**
 * An idle worker whose proofs are all but complete, and a run of its stop that stops at the call.
 */
async function stall(call: StalledCall) {
  const podName = await scene.idleWorker();
  await scene.askToStop(podName);
  await world.runTasks();
  if (call.path === RUN_JOBS) {
    world.kube.failNext({ path: '/log$', status: 500, times: 1_000 });
    await scene.letTimePass(11);
    await world.runTasks();
  }
  await scene.letTimePass();
  return { podName, goOn: await runs.stallAt(call) };
}

describe('a run that stops while its successor does everything, and then continues (D6, P2)', () => {
  test.each(STEPS)('at the $at of $what: the worker ends once', async (step) => {
    const { podName, goOn } = await stall(step);
    await runs.takeOver();
    await scene.letEnd(podName);
    const ended = await scene.row(podName);
    expect(ended.completed_at).not.toBeNull();
    await goOn();
    await world.makeDue();
    await world.runTasks();
    // The registration may be found gone once more; the row has no other change.
    expect(await scene.row(podName)).toMatchObject({
      status: ended.status,
      completed_at: ended.completed_at,
      stop_reason: ended.stop_reason,
    });
    expect(await world.db.selectFrom('tasks').selectAll().execute()).toEqual([]);
  });

  // GitHub itself refuses a deregistration that arrives late. After one that was answered, no
  // runner is left to get a job.
  const before = STEPS.filter(({ method, at }) => method !== 'DELETE' || at === 'call');
  test.each(before)(
    'at the $at of $what, and the runner gets a job meanwhile: it keeps working',
    async (step) => {
      const { podName, goOn } = await stall(step);
      const queued = { repo: 'acme/api', labels: ['linux'], durationMs: 600_000 };
      const job = await world.gitHub.queueJob(queued);
      await runs.takeOver();
      expect(await scene.row(podName)).toMatchObject({
        stopping_at: null,
        assigned_at: expect.any(Date),
      });
      await goOn();
      await scene.letEnd(podName);
      expect(await scene.row(podName)).toMatchObject({
        status: 'running',
        stopping_at: null,
        registration_gone_at: null,
      });
      await scene.expectWorking(podName, job.id);
    },
  );
});

test('a job that is bound to a worker while its log is read keeps it from being deregistered (E5, P2)', async () => {
  const log = { side: 'cluster', method: 'GET', path: '/log$', at: 'answer' } as const;
  const { podName, goOn } = await stall(log);
  await scene.set(podName, { assigned_at: new Date() });
  await goOn();
  expect(await scene.runner(podName)).toMatchObject({ state: 'idle' });
  expect(await scene.row(podName)).toMatchObject({
    deregistration_started_at: null,
    registration_gone_at: null,
  });
});

test('a run whose claim is about to end deregisters nothing: its successor looks anew (D6, P2)', async () => {
  const podName = await scene.idleWorker();
  await scene.askToStop(podName);
  await world.runTasks();
  await scene.letTimePass();
  await world.runTasks('short', 1);
  expect(await scene.runner(podName)).toMatchObject({ state: 'idle' });
  await scene.letTimePass();
  await scene.letEnd(podName);
  expect(await scene.runner(podName)).toBeUndefined();
});
