import { expect, test } from '@jest/globals';
import { STOP_REASONS, type StopReason } from '@paddock/domain/workers/stop-reasons';
import { KubeError } from '@paddock/kube/errors';
import { fc } from '@paddock/testing/random-cases';
import { waitFor } from '@paddock/testing/wait-for';
import { NAMESPACE } from '../scenes/scheduler.scene.ts';
import { step, STOP_RULES } from '../scenes/settings.scene.ts';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const RUNS = 12;

// GitHub calls busy runners idle for ever here, so its word alone never counts.
const world = useSchedulerWorld({ stopRules: { ...STOP_RULES, unreadMs: Infinity } });
const scene = useStopScene(world);

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
    const here = new Set((await connected()).map(({ name }) => name));
    const starting = (await world.alive()).filter((worker) => !here.has(worker.pod_name));
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

async function passTime({ minutes, replicas }: { minutes: number; replicas: number }) {
  await scene.letTimePass(minutes);
  const names = Array.from({ length: replicas }, (_, nth) => `replica ${nth}`);
  await Promise.all(names.map((name) => world.runTasks(name)));
  await scene.follow();
}

const any = fc.nat(100);
const steps = fc.oneof(
  step(3, 'job, known or not', fc.boolean(), queueJob),
  step(2, 'idle worker', fc.constant(0), cancelJob),
  step(1, 'end of a job', any, async (nth) => {
    const job = pick(await running(), nth);
    if (job !== undefined) await world.gitHub.cancelJob(job.id);
  }),
  step(
    6,
    'stop',
    fc.tuple(any, fc.constantFrom(...(Object.keys(STOP_REASONS) as StopReason[]))),
    async ([nth, reason]) => {
      const runner = pick((await connected()).filter(isSettled), nth);
      if (runner !== undefined) await scene.askToStop(runner.name, reason);
    },
  ),
  step(
    6,
    'time',
    fc.record({ minutes: fc.constantFrom(1, 11), replicas: fc.constantFrom(1, 2) }),
    passTime,
  ),
  step(2, 'GitHub called it busy, and its job is unknown to us', any, async (nth) => {
    const name = pick(await connected(), nth)?.name ?? '';
    const { assigned_at } = (await world.alive()).find((row) => row.pod_name === name) ?? {};
    if (assigned_at === null) await scene.set(name, { assigned_at: new Date() });
  }),
  step(2, 'lie', fc.boolean(), (busyLies) => world.gitHub.setRunnerFaults({ busyLies })),
  step(3, 'no log', fc.integer({ min: 1, max: 8 }), (times) =>
    world.kube.failNext({ path: '/log$', status: 500, times }),
  ),
  step(
    1,
    'fault',
    fc.record({
      side: fc.constantFrom('GitHub', 'cluster'),
      status: fc.constantFrom(403, 409, 500, undefined),
      after: fc.nat(3),
    }),
    ({ side, ...fault }) =>
      side === 'GitHub'
        ? world.gitHub.failNext({ path: '/actions/', ...fault })
        : world.kube.failNext({ path: '/pods/', ...fault }),
  ),
);

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
    await passTime({ minutes: 11, replicas: 2 });
    await expectNobodyKilled();
    // One may have come only now: its making had failed before.
    if ((await idle()).length > 0) return false;
    return (await world.alive()).every((worker) => worker.stopping_at === null);
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
        await scene.startsWith(start);
        await world.gitHub.setRunnerFaults({ busyLies: true });
        for (const { take } of history) {
          await take();
          await expectNobodyKilled();
        }
        await letStopsEnd();
        expect((await connected()).filter(({ state }) => state !== 'busy')).toEqual([]);
        await world.cancelAll();
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 900_000);
