import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf, postgresCpuSeconds } from '../ingress/cpu-time.ts';
import { createDemand, type Demand, type QueuedJob } from './jobs.ts';
import { openParts } from './parts.ts';
import type { System } from './system.ts';
import type { Watcher } from './watch.ts';

/** Until then the services' code is still being compiled. */
const WARM_UP_JOBS = 60;
const IDLE_JOBS = 40;
/** Between two jobs, so that all work for one is done when the other comes. */
const IDLE_PAUSE_MS = 100;

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
  /** The part of each of these times that no implementation can save, in milliseconds. */
  readonly idleParts: readonly number[];
  readonly githubCallsPerJob: number;
  readonly statementsPerJob: number;
  readonly excessWorkers: number;
  /** CPU milliseconds per job of the burst, by process. */
  readonly cpuPerJob: Readonly<Record<string, number>>;
}

/**
 * Measures single jobs first, then a burst. No runner ever ends, so each job needs one worker, and
 * further workers are in excess.
 */
export async function measure(
  system: System,
  watcher: Watcher,
  { organizations, jobs }: Load,
  say: (line: string) => void,
): Promise<Measured> {
  // Another organisation has the jobs before the burst: they must not use the burst's registrations
  // of that minute.
  const before = await createDemand(system.github, ['before']);
  const burst = await createDemand(
    system.github,
    Array.from({ length: organizations }, (_, index) => `org-${index}`),
  );
  let queued = 0;
  const queue = async (count: number, demand: Demand = before): Promise<QueuedJob[]> => {
    const batch = await demand.queue(count);
    queued += count;
    await watcher.untilPods(queued);
    return batch;
  };

  say('warming up');
  await queue(WARM_UP_JOBS);
  say(`${IDLE_JOBS} jobs, one at a time`);
  const parts = openParts(system, watcher);
  const idle: QueuedJob[] = [];
  const idleParts: number[] = [];
  for (let n = 0; n < IDLE_JOBS; n++) {
    await sleep(IDLE_PAUSE_MS);
    idle.push(...(await queue(1)));
    await sleep(IDLE_PAUSE_MS);
    idleParts.push(await parts.time());
  }
  parts.close();

  say(`${jobs} jobs of ${organizations} organisations at once`);
  await watcher.resetStatements();
  const cpuBefore = await cpuSeconds(system);
  const together = await queue(jobs, burst);
  const cpuAfter = await cpuSeconds(system);
  const statements = await watcher.countStatements();

  const podCreatedAt = await podsOfJobs(system, watcher);
  const podOf = ({ id }: QueuedJob): number => podCreatedAt.get(id) ?? Number.NaN;
  const latencyOf = (job: QueuedJob): number => podOf(job) - job.queuedAt;
  const { calls, registrations } = await system.github.report();
  return {
    organizations,
    jobs,
    seconds:
      (Math.max(...together.map(podOf)) - Math.min(...together.map(({ queuedAt }) => queuedAt))) /
      1_000,
    latencies: together.map(latencyOf),
    idleLatencies: idle.map(latencyOf),
    idleParts,
    githubCallsPerJob: Object.values(calls).reduce((sum, count) => sum + count, 0) / queued,
    statementsPerJob: statements / jobs,
    excessWorkers: registrations - queued,
    cpuPerJob: Object.fromEntries(
      Object.entries(cpuAfter).map(([name, s]) => [
        name,
        ((s - (cpuBefore[name] ?? 0)) * 1_000) / jobs,
      ]),
    ),
  };
}

async function cpuSeconds({ processes, postgres }: System): Promise<Record<string, number>> {
  const used = await Promise.all(
    processes.map(async ({ name, pid }) => [name, await cpuSecondsOf(pid)] as const),
  );
  return { ...Object.fromEntries(used), PostgreSQL: await postgresCpuSeconds(postgres.dataDir) };
}

/**
 * When the pod was created, by the id of the job it was made for. The cluster's own record has
 * milliseconds, unlike a pod's timestamp.
 */
async function podsOfJobs({ cluster }: System, watcher: Watcher): Promise<Map<number, number>> {
  const { creations } = await cluster.report();
  const createdAt = new Map(
    creations.map((creation) => [creation.name, Date.parse(creation.createdAt)]),
  );
  const workers = await watcher.workersOfJobs();
  return new Map([...workers].map(([job, worker]) => [job, createdAt.get(worker) ?? Number.NaN]));
}
