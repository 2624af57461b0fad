import { setTimeout as sleep } from 'node:timers/promises';
import { APP_ID } from '../programs.ts';
import type { Stage } from '../stage/stage.ts';
import type { Watcher } from './watch.ts';

/** Until then the services' code is still being compiled. */
const WARM_UP_JOBS = 60;
const IDLE_JOBS = 40;
/** Between two jobs, so that all work for one is done when the other comes. */
const IDLE_PAUSE_MS = 100;
/** Long enough that none ends during the measurement. */
const JOB_MS = 600_000;
/** As many at a time as keep the simulated GitHub busy without a queue there. */
const AT_ONCE = 8;

/** A job, and when the bench asked GitHub to queue it, in milliseconds since the epoch. */
interface QueuedJob {
  readonly id: number;
  readonly queuedAt: number;
}
type Queue = (count: number) => Promise<QueuedJob[]>;

/** How many jobs come at once, and of how many organisations. */
export interface Load {
  readonly organizations: number;
  readonly jobs: number;
}

export interface Measured extends Load {
  /** From the first job's queueing to the last one's pod. */
  readonly seconds: number;
  /**
   * From the request to GitHub to queue a job to the creation of its pod in the cluster, in
   * milliseconds, for each job of the burst.
   */
  readonly latencies: readonly number[];
  /** The same of jobs that come one at a time. */
  readonly idleLatencies: readonly number[];
  readonly githubCallsPerJob: number;
  readonly statementsPerJob: number;
  readonly excessWorkers: number;
}

/**
 * Measures single jobs first, then a burst. No runner ever ends, so each job needs one worker, and
 * further workers are in excess.
 */
export async function measure(
  stage: Stage,
  watcher: Watcher,
  { organizations, jobs }: Load,
  say: (line: string) => void,
): Promise<Measured> {
  // Another organisation has the jobs before the burst: they must not use the burst's registrations
  // of that minute.
  const before = await makeOrganizations(stage, ['before']);
  const burst = await makeOrganizations(
    stage,
    Array.from({ length: organizations }, (_, index) => `org-${index}`),
  );
  let queued = 0;
  const queue = async (count: number, queueAll: Queue = before): Promise<QueuedJob[]> => {
    const batch = await queueAll(count);
    queued += count;
    await watcher.untilPods(queued);
    return batch;
  };

  say('warming up');
  await queue(WARM_UP_JOBS);
  say(`${IDLE_JOBS} jobs, one at a time`);
  const idle: QueuedJob[] = [];
  for (let n = 0; n < IDLE_JOBS; n++) {
    await sleep(IDLE_PAUSE_MS);
    idle.push(...(await queue(1)));
  }

  say(`${jobs} jobs of ${organizations} organisations at once`);
  await watcher.resetStatements();
  const together = await queue(jobs, burst);
  const statements = await watcher.countStatements();

  const podCreatedAt = await podsOfJobs(stage, watcher);
  const podOf = ({ id }: QueuedJob): number => podCreatedAt.get(id) ?? Number.NaN;
  const latencyOf = (job: QueuedJob): number => podOf(job) - job.queuedAt;
  const { calls, registrations } = await stage.github.report();
  return {
    organizations,
    jobs,
    seconds:
      (Math.max(...together.map(podOf)) - Math.min(...together.map(({ queuedAt }) => queuedAt))) /
      1_000,
    latencies: together.map(latencyOf),
    idleLatencies: idle.map(latencyOf),
    githubCallsPerJob: Object.values(calls).reduce((sum, count) => sum + count, 0) / queued,
    statementsPerJob: statements / jobs,
    excessWorkers: registrations - queued,
  };
}

/** Organisations take equal turns to queue jobs. GitHub bounds the registrations of each. */
async function makeOrganizations(
  { github, environments }: Stage,
  logins: readonly string[],
): Promise<Queue> {
  for (const login of logins) {
    await github.addOrganization({ login });
    await github.addRepository({ owner: login, name: 'shop', private: true });
    await github.install({ appId: APP_ID, account: login });
  }
  await github.settled();
  let turn = 0;
  const queueOne = async (): Promise<QueuedJob> => {
    const repo = `${logins[turn++ % logins.length]}/shop`;
    const labels = environments[0]?.labels ?? [];
    const queuedAt = performance.timeOrigin + performance.now();
    const { id } = await github.queueJob({ repo, labels, durationMs: JOB_MS });
    return { id, queuedAt };
  };
  return async (count) => {
    const queued: QueuedJob[] = [];
    let left = count;
    const queueSome = async (): Promise<void> => {
      while (left-- > 0) queued.push(await queueOne());
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, queueSome));
    return queued;
  };
}

/**
 * When the pod was created, by the id of the job it was made for. The cluster's own record has
 * milliseconds, unlike a pod's timestamp.
 */
async function podsOfJobs({ cluster }: Stage, watcher: Watcher): Promise<Map<number, number>> {
  const { creations } = await cluster.report();
  const createdAt = new Map(
    creations.map((creation) => [creation.name, Date.parse(creation.createdAt)]),
  );
  const workers = await watcher.workersOfJobs();
  return new Map([...workers].map(([job, worker]) => [job, createdAt.get(worker) ?? Number.NaN]));
}
