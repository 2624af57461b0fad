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
const READ_LOG = {
  what: 'reading its log',
  side: 'cluster',
  method: 'GET',
  path: '/log$',
} as const;
const CALLS = [
  { what: 'looking for the pod', side: 'cluster', method: 'GET', path: '/pods/[^/]+$' },
  { what: 'looking for the runner', side: 'github', method: 'GET', path: '/actions/runners$' },
  { what: 'looking for its job', side: 'github', method: 'GET', path: RUN_JOBS },
  READ_LOG,
  { what: 'deregistering it', side: 'github', method: 'DELETE', path: '/actions/runners/[^/]+$' },
] as const;
const STEPS = bothEnds(CALLS);
const WORKS = { status: 'running', stopping_at: null, assigned_at: expect.any(Date) };

/** An idle worker that was called idle once, a minute ago. */
async function onceIdle(): Promise<string> {
  const podName = await scene.idleWorker();
  await scene.askToStop(podName);
  await world.runTasks();
  await scene.letTimePass();
  return podName;
}

/**
 * An idle worker whose proofs are all but complete, and a run of its stop that stops at the call.
 */
async function stall(call: StalledCall) {
  const podName = await onceIdle();
  if (call.path === RUN_JOBS) {
    world.kube.failNext({ path: '/log$', status: 500, times: 1_000 });
    await scene.letTimePass(10);
    await world.runTasks();
    await scene.letTimePass();
  }
  return { podName, goOn: await runs.stallAt(call) };
}

describe('a run that stops while its successor does everything, and then continues (D6, P2)', () => {
  test.each(STEPS)('at the $at of $what: the worker ends once', async (step) => {
    const { podName, goOn } = await stall(step);
    await runs.takeOver();
    const { status, completed_at, stop_reason } = await scene.letEnd(podName);
    expect(completed_at).not.toBeNull();
    await goOn();
    await world.makeDue();
    await world.runTasks();
    // The registration may be found gone once more; the row has no other change.
    expect(await scene.row(podName)).toMatchObject({ status, completed_at, stop_reason });
    expect(await world.db.selectFrom('tasks').selectAll().execute()).toEqual([]);
  });

  // GitHub itself refuses a deregistration that arrives late. After one that was answered, no
  // runner is left to get a job.
  test.each(STEPS.filter(({ method, at }) => method !== 'DELETE' || at === 'call'))(
    'at the $at of $what, and the runner gets a job meanwhile: it keeps working',
    async (step) => {
      const { podName, goOn } = await stall(step);
      const queued = { repo: 'acme/api', labels: ['linux'], durationMs: 600_000 };
      const job = await world.gitHub.queueJob(queued);
      await runs.takeOver();
      expect(await scene.row(podName)).toMatchObject(WORKS);
      await goOn();
      const kept = { ...WORKS, registration_gone_at: null };
      expect(await scene.letEnd(podName)).toMatchObject(kept);
      await scene.expectWorking(podName, job.id);
    },
  );
});

test('a job that is bound to a worker while its log is read keeps it from being deregistered (E5, P2)', async () => {
  const { podName, goOn } = await stall({ ...READ_LOG, at: 'answer' });
  await scene.set(podName, { assigned_at: new Date() });
  await goOn();
  expect(await scene.runner(podName)).toMatchObject({ state: 'idle' });
  expect(await scene.row(podName)).toMatchObject({
    deregistration_started_at: null,
    registration_gone_at: null,
  });
});

test('a run whose claim is about to end deregisters nothing: its successor looks anew (D6, P2)', async () => {
  const podName = await onceIdle();
  await world.runTasks('short', 1);
  expect(await scene.runner(podName)).toMatchObject({ state: 'idle' });
  await scene.letTimePass();
  await scene.letEnd(podName);
  expect(await scene.runner(podName)).toBeUndefined();
});

/** Idle workers and a busy one that GitHub calls idle too, all to be stopped. */
async function stopAll({ idle: count }: { idle: number }) {
  const { podName: busy, jobId } = await scene.busyWorker();
  const idle: string[] = [];
  while (idle.length < count) idle.push(await scene.idleWorker());
  await world.gitHub.setRunnerFaults({ busyLies: true });
  for (const podName of [...idle, busy]) await scene.askToStop(podName);
  return {
    idle,
    busy,
    async expectWorking() {
      await world.gitHub.clearFaults();
      world.kube.clearFaults();
      await scene.expectWorking(busy, jobId);
    },
  };
}

/** As many of GitHub, and of the cluster, as the two stops make together. */
const NTH = Array.from({ length: 8 }, (_, nth) => nth);

// Lost on its way, or done with its answer lost.
describe.each([{}, { afterCommit: true }])('the nth outside call fails with %j', (fault) => {
  test.each([
    ...NTH.map((nth) => ['GitHub', nth] as const),
    ...NTH.map((nth) => ['cluster', nth] as const),
  ])(
    '%s, call %d: an idle worker ends all the same, a busy one works on (E5, P2)',
    async (side, after) => {
      const { idle, busy, expectWorking } = await stopAll({ idle: 1 });
      if (side === 'GitHub') await world.gitHub.failNext({ path: '.', after, ...fault });
      else world.kube.failNext({ path: '/pods/', after, ...fault });
      for (const podName of idle) {
        const ended = await scene.letEnd(podName, { attempts: 20 });
        expect(ended.completed_at).not.toBeNull();
        expect(await scene.runner(podName)).toBeUndefined();
      }
      expect(await scene.letEnd(busy, { attempts: 20 })).toMatchObject(WORKS);
      await expectWorking();
    },
  );
});

test('two replicas with all tasks due: each worker is stopped once, none that works (C5, P2)', async () => {
  const { idle, expectWorking } = await stopAll({ idle: 2 });
  for (let turn = 0; turn < 6; turn += 1) {
    await Promise.all([world.runTasks('one'), world.runTasks('two')]);
    await scene.follow();
    await scene.letTimePass();
  }
  for (const podName of idle) expect((await scene.row(podName)).completed_at).not.toBeNull();
  await expectWorking();
});
