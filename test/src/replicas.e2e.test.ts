import { beforeAll, expect, test } from '@jest/globals';
import type { Program } from '@paddock/processes/start-program';
import { fc } from '@paddock/testing/random-cases';
import { waitFor } from '@paddock/testing/wait-for';
import { kill, useSystem } from './start-system.ts';

/**
 * Soon enough for a test: another scheduler takes over the tasks of a dead one. An unexplained end
 * is never given up here.
 */
const SHORT = {
  scheduler: { leaseMs: 2_000, leaseRenewMs: 500, unexplainedGraceMs: 600_000 },
  queue: { taskLeaseMs: 3_000, taskBackoffFirstMs: 200 },
};

const REPLICAS = 3;
const JOBS = 16;
const DURATION_MS = fc.integer({ min: 1, max: 79 });
/** Which replica is killed next, and after how many more registrations. */
const KILLS = fc.record({
  victim: fc.nat(REPLICAS - 1),
  afterRegistrations: fc.integer({ min: 1, max: 4 }),
});
const JIT = 'actions/generate-runner-jitconfig-for-org';

/**
 * A worker that was being registered when its scheduler died ends, and another is made. A mere
 * reservation may be given back, for example when the calls of a stalled scheduler fail and open a
 * breaker: it has caused no call yet.
 */
const EXCUSED: ReadonlySet<string | null> = new Set(['registration_interrupted', 'unwanted']);

const NONE = {
  excessWorkers: 0,
  killed: 0,
  lost: 0,
  failures: [],
  workersTooMany: 0,
  jobsRunTwice: 0,
  registeredTwice: 0,
  withoutRow: [],
  askedTwice: 0,
  podsTooMany: 0,
  podsTwice: 0,
};

// Deliveries may be refused while a stopped scheduler has rows locked.
const system = useSystem({ ingress: {}, reconciler: { rules: SHORT } });
let schedulers: Program[];

beforeAll(async () => {
  schedulers = await Promise.all(
    Array.from({ length: REPLICAS }, () => system.start('scheduler', { rules: SHORT })),
  );
}, 150_000);

const registrations = async () => (await system.github.report()).registrations;
const queueJobs = async (count: number): Promise<number[]> => {
  const jobs = fc.sample(DURATION_MS, count);
  return (await Promise.all(jobs.map((durationMs) => system.queueJobs(1, { durationMs })))).flat();
};
const untilCompleted = async (jobs: readonly number[]) => {
  await system.untilJobs(jobs, 'completed');
  await system.untilWorkersEnd();
};
const follower = async () => {
  const lease = await system.database.db
    .selectFrom('leases')
    .select('holder')
    .where('name', '=', 'follow-pods')
    .executeTakeFirst();
  return lease?.holder;
};
/**
 * The differences from the required state: every job has had one runner, and every runner that
 * ran one pod.
 */
const faults = async () => {
  const { jobs, registrations: registered } = await system.github.truth();
  const workers = await system.database.db.selectFrom('workers').selectAll().execute();
  const begun = workers.flatMap((worker) =>
    worker.registration_started_at === null ? [] : [worker.pod_name],
  );
  const failures = workers.flatMap(({ status, stop_reason: reason }) =>
    status === 'failed' ? [reason] : [],
  );
  const names = registered.map(({ name }) => name);
  const pods = system.cluster.report().creations.map(({ name }) => name);
  const { excessWorkers, killed, lost, calls } = await system.github.report();
  // The request of a stalled scheduler cannot be called back: it registers a runner after the row
  // has ended.
  const interrupted = failures.filter((reason) => reason === 'registration_interrupted').length;
  return {
    excessWorkers: Math.max(0, excessWorkers - interrupted),
    killed,
    lost,
    failures: failures.filter((reason) => !EXCUSED.has(reason)),
    workersTooMany: workers.length - jobs.length - failures.length,
    jobsRunTwice: registered.flatMap(({ jobIds }) => jobIds).length - jobs.length,
    registeredTwice: names.length - new Set(names).size,
    withoutRow: names.filter((name) => !begun.includes(name)),
    askedTwice: Math.max(0, (calls[JIT] ?? 0) - begun.length),
    podsTooMany: pods.length - jobs.length,
    podsTwice: pods.length - new Set(pods).size,
  };
};

test('several schedulers: a burst while one after the other is killed and started again: one worker for each job, nothing doubled, nothing stops (P1, P3, C5, C6)', async () => {
  const chosen = fc.sample(KILLS, 3);
  const jobs = await queueJobs(JOBS);
  for (const { victim, afterRegistrations } of chosen) {
    const before = await registrations();
    const enough = Math.min(before + afterRegistrations, JOBS);
    await waitFor('more registrations', async () => (await registrations()) >= enough);
    await kill(schedulers[victim]);
    schedulers[victim] = await system.start('scheduler', { rules: SHORT });
  }
  await untilCompleted(jobs);
  expect({ chosen, ...(await faults()) }).toEqual({ chosen, ...NONE });
}, 150_000);

test('one that stops in the middle of a burst, and continues when others have taken over, doubles nothing (P3, C6, D6)', async () => {
  const before = await registrations();
  const [frozen] = schedulers;
  const jobs = await queueJobs(JOBS);
  await waitFor('some registrations', async () => (await registrations()) > before + 2);
  frozen?.kill('SIGSTOP');
  await untilCompleted(jobs);
  frozen?.kill('SIGCONT');
  await untilCompleted(await queueJobs(5));
  expect(await faults()).toEqual(NONE);
}, 150_000);

test('the one that follows the pods is killed: another follows them (C8, A12)', async () => {
  const dead = await waitFor('a replica to follow the pods', follower);
  const victim = schedulers.findIndex(({ pid }) => dead.includes(`/${pid}/`));
  expect(victim).not.toBe(-1);
  await kill(schedulers[victim]);
  await untilCompleted(await queueJobs(1));
  expect(await follower()).not.toBe(dead);
}, 150_000);
