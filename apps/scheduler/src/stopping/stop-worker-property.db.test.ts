import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { STOP_REASONS, type StopReason } from '@paddock/domain/workers/stop-reasons';
import { KubeError } from '@paddock/kube/errors';
import { examplePools } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { waitFor } from '@paddock/testing/wait-for';
import { NAMESPACE, type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { STOP_RULES } from '../scenes/settings.scene.ts';
import { setStopScene, type StopScene } from '../scenes/stop.scene.ts';

const RUNS = 12;

let world: SchedulerWorld;
let scene: StopScene;
beforeAll(async () => {
  // GitHub calls busy runners idle for ever here, so its word alone never counts.
  world = await startSchedulerWorld({ stopRules: { ...STOP_RULES, unreadMs: Infinity } });
  scene = await setStopScene(world);
});
afterAll(() => world.stop());

const running = async () =>
  (await world.gitHub.truth()).jobs.filter(({ status }) => status === 'in_progress');
const connected = async () =>
  (await world.gitHub.truth()).runners.filter(({ state }) => state === 'idle' || state === 'busy');
const idle = async () => (await connected()).filter(({ state }) => state === 'idle');
const pick = <T>(of: readonly T[], nth: number): T | undefined => of[nth % Math.max(of.length, 1)];

/**
 * GitHub calls a runner busy before it has read of its job. For that there is half a minute before
 * the last look, which no test waits.
 */
const isSettled = ({ name, state }: { name: string; state: string }) =>
  state === 'idle' ||
  world.kube.runnerLog(NAMESPACE, name).some((line) => line.includes('Running job: '));

const missedLook = (error: unknown): undefined => {
  if (!(error instanceof KubeError)) throw error;
};

/**
 * No worker is being made, and none is just beginning to work. A stopping worker is connected, gets
 * a job only if one is queued, and shows the job that it has.
 */
const arrived = () =>
  waitFor('all runners to be connected, and those with a job to show it', async () => {
    await world.settle(1);
    await scene.follow();
    if (!(await connected()).every(isSettled)) return false;
    const live = await world.db
      .selectFrom('workers')
      .select('pod_name')
      .where('status', 'in', ['pending', 'running'])
      .execute();
    const here = new Set((await connected()).map(({ name }) => name));
    const starting = live.filter((worker) => !here.has(worker.pod_name));
    // A fault that was meant for the scheduler may strike this look: another one follows.
    const pods = await Promise.all(starting.map((worker) => scene.pod(worker.pod_name))).catch(
      missedLook,
    );
    return pods?.every(
      (pod) => pod === undefined || pod.containersTerminated || pod.deletionTimestamp !== undefined,
    );
  });

/**
 * No delivery ever comes. At most it is known of a job that it was queued; if its row is lost as
 * well, nothing is known. It may wait for a worker that looks idle.
 */
async function queueJob(isKnown: boolean): Promise<void> {
  const jobId = await world.queueJob({ durationMs: 600_000 });
  await arrived();
  if (!isKnown) await world.db.deleteFrom('jobs').where('job_id', '=', jobId).execute();
}

/** A job that is cancelled before its worker comes. */
async function cancelJob(): Promise<void> {
  await world.gitHub.cancelJob(await world.queueJob());
  await arrived();
}

const ANY = { nth: fc.nat(100) };
const named = <S extends string>(step: S) => ({ step: fc.constant(step) });
const REASONS = Object.keys(STOP_REASONS) as StopReason[];
const FAULT = {
  side: fc.constantFrom('GitHub' as const, 'cluster' as const),
  status: fc.constantFrom(403, 409, 500, undefined),
  after: fc.nat(3),
};
const TIME = { minutes: fc.constantFrom(1, 11), replicas: fc.constantFrom(1, 2) };
const steps = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ...named('job'), isKnown: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record(named('idle worker')) },
  { weight: 1, arbitrary: fc.record({ ...named('end of a job'), ...ANY }) },
  {
    weight: 6,
    arbitrary: fc.record({ ...named('stop'), ...ANY, reason: fc.constantFrom(...REASONS) }),
  },
  { weight: 6, arbitrary: fc.record({ ...named('time'), ...TIME }) },
  { weight: 2, arbitrary: fc.record({ ...named('assigned'), ...ANY }) },
  { weight: 2, arbitrary: fc.record({ ...named('lie'), busyLies: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ ...named('no log'), times: fc.integer({ min: 1, max: 8 }) }),
  },
  { weight: 1, arbitrary: fc.record({ ...named('fault'), ...FAULT }) },
);
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never;

async function take(step: Step): Promise<void> {
  switch (step.step) {
    case 'job':
      return queueJob(step.isKnown);
    case 'idle worker':
      return cancelJob();
    case 'end of a job': {
      const job = pick(await running(), step.nth);
      if (job !== undefined) await world.gitHub.cancelJob(job.id);
      return;
    }
    case 'stop': {
      const runner = pick((await connected()).filter(isSettled), step.nth);
      if (runner !== undefined) await scene.askToStop(runner.name, step.reason);
      return;
    }
    case 'assigned': {
      // GitHub called it busy, and its job is unknown to us.
      const runner = pick(await connected(), step.nth);
      const assigned = world.db.updateTable('workers').set({ assigned_at: new Date() });
      if (runner !== undefined)
        await assigned
          .where('pod_name', '=', runner.name)
          .where('assigned_at', 'is', null)
          .execute();
      return;
    }
    case 'time':
      await scene.letTimePass(step.minutes);
      await Promise.all(
        Array.from({ length: step.replicas }, (_, nth) => world.runTasks(`replica ${nth}`)),
      );
      return scene.follow();
    case 'lie':
      return world.gitHub.setRunnerFaults({ busyLies: step.busyLies });
    case 'no log':
      return world.kube.failNext({ path: '/log$', status: 500, times: step.times });
    case 'fault': {
      const { status, after } = step;
      if (step.side === 'GitHub')
        return world.gitHub.failNext({ path: '/actions/', status, after });
      return world.kube.failNext({ path: '/pods/', status, after });
    }
    default:
      step satisfies never;
  }
}

/** GitHub knows of no job whose runner was killed, and every runner that works is in its pod. */
async function expectNobodyKilled(): Promise<void> {
  const { jobs } = await world.gitHub.truth();
  expect(jobs.filter(({ killed }) => killed)).toEqual([]);
  for (const { runnerName } of jobs.filter(({ status }) => status === 'in_progress')) {
    const runner = await scene.runner(runnerName ?? '');
    expect(runner?.state).toBe('busy');
  }
}

/**
 * Lets time pass until every idle runner was stopped, with as many requests as that needs, and no
 * stop is left.
 */
async function letStopsEnd(): Promise<void> {
  world.kube.clearFaults();
  await world.gitHub.clearFaults();
  await world.gitHub.setRunnerFaults({ busyLies: true });
  await waitFor('every stop to end', async () => {
    for (const { name } of await idle()) {
      await scene.askToStop(name);
      await scene.askToStop(name, 'over');
    }
    await take({ step: 'time', minutes: 11, replicas: 2 });
    await expectNobodyKilled();
    const live = await world.db
      .selectFrom('workers')
      .select('stopping_at')
      .where('status', 'in', ['pending', 'running'])
      .execute();
    // One may have come only now: its making had failed before.
    return (await idle()).length === 0 && live.every((worker) => worker.stopping_at === null);
  });
}

// The limit is a net for a history that hangs: a busy machine takes minutes for all of them.
test('stops of any worker at any moment, while GitHub calls busy runners idle and would remove them, kill none; idle ones end (P2, E5)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 8, maxLength: 20 }),
      fc.constantFrom('told', 'untold'),
      async (history, start) => {
        await world.reset();
        // The status of untold pods stays Pending while their runners work.
        await world.putPools(
          examplePools({
            pools: [{ template: { metadata: { annotations: { 'test.paddock/start': start } } } }],
          }),
        );
        await world.gitHub.setRunnerFaults({ busyLies: true });
        for (const step of history) {
          await take(step);
          await expectNobodyKilled();
        }
        await letStopsEnd();
        expect((await connected()).filter(({ state }) => state !== 'busy')).toEqual([]);
        await scene.cancelAll();
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 900_000);
