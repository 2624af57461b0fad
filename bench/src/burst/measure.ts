import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'node:http';
import { cpuSecondsOf, postgresCpuSeconds } from '../ingress/cpu-time.ts';
import { createDemand, type QueuedJob } from './jobs.ts';
import type { System } from './system.ts';
import type { Watcher } from './watch.ts';

/** Until then the services' code is still being compiled. */
const WARM_UP_JOBS = 60;
const IDLE_JOBS = 40;
/** Between two jobs, so that nothing of the one is left to do when the other comes. */
const IDLE_PAUSE_MS = 100;

export interface Measured {
  readonly jobs: number;
  /** From the first job's queueing to the last one's pod. */
  readonly seconds: number;
  /** From a job's queueing at GitHub to its pod's creation in the cluster, in milliseconds, for each job of the burst. */
  readonly latencies: readonly number[];
  /** The same of jobs that come one at a time. */
  readonly idleLatencies: readonly number[];
  /** What cannot be saved of each of those: two commits, and a call of GitHub and two of the cluster, in milliseconds. */
  readonly idleParts: readonly number[];
  readonly githubCallsPerJob: number;
  readonly statementsPerJob: number;
  readonly excessWorkers: number;
  /** CPU milliseconds per job of the burst, by process. */
  readonly cpuPerJob: Readonly<Record<string, number>>;
}

export async function measure(
  system: System,
  watcher: Watcher,
  { jobs, say }: { jobs: number; say: (line: string) => void },
): Promise<Measured> {
  const { github, cluster, clusterUrl } = system;
  const demand = await createDemand(github, WARM_UP_JOBS + IDLE_JOBS + jobs);
  const agent = new Agent({ keepAlive: true });
  let queued = 0;
  const queue = async (count: number): Promise<QueuedJob[]> => {
    const batch = await demand.queue(count);
    queued += count;
    await watcher.untilPods(queued);
    return batch;
  };

  say('warming up');
  await queue(WARM_UP_JOBS);
  say(`${IDLE_JOBS} jobs, one at a time`);
  const idle: QueuedJob[] = [];
  const idleParts: number[] = [];
  for (let n = 0; n < IDLE_JOBS; n++) {
    await sleep(IDLE_PAUSE_MS);
    idle.push(...(await queue(1)));
    await sleep(IDLE_PAUSE_MS);
    const begun = performance.now();
    for (let commit = 0; commit < 2; commit++) await watcher.timeCommit();
    for (let call = 0; call < 3; call++) await callOnce(agent, clusterUrl);
    idleParts.push(performance.now() - begun);
  }
  agent.destroy();

  say(`${jobs} jobs at once`);
  await watcher.resetStatements();
  const cpuBefore = await cpuSeconds(system);
  const together = await queue(jobs);
  const cpuAfter = await cpuSeconds(system);
  const statements = await watcher.countStatements();

  const podCreatedAt = await podsOfJobs(cluster, watcher);
  const latencyOf = ({ id, queuedAt }: QueuedJob): number => (podCreatedAt.get(id) ?? Number.NaN) - queuedAt;
  const latencies = together.map(latencyOf);
  const firstQueuedAt = Math.min(...together.map(({ queuedAt }) => queuedAt));
  const lastPodAt = Math.max(...together.map(({ id }) => podCreatedAt.get(id) ?? Number.NaN));
  const { calls, excessWorkers } = await github.report();
  return {
    jobs,
    seconds: (lastPodAt - firstQueuedAt) / 1_000,
    latencies,
    idleLatencies: idle.map(latencyOf),
    idleParts,
    githubCallsPerJob: Object.values(calls).reduce((sum, count) => sum + count, 0) / queued,
    statementsPerJob: statements / jobs,
    excessWorkers,
    cpuPerJob: Object.fromEntries(
      Object.entries(cpuAfter).map(([name, seconds]) => [name, ((seconds - (cpuBefore[name] ?? Number.NaN)) * 1_000) / jobs]),
    ),
  };
}

async function cpuSeconds({ processes, postgres }: System): Promise<Record<string, number>> {
  const used = await Promise.all(processes.map(async ({ name, pid }) => [name, await cpuSecondsOf(pid)] as const));
  return { ...Object.fromEntries(used), PostgreSQL: await postgresCpuSeconds(postgres.dataDir) };
}

/** When the pod was created, by the id of the job it was made for. The cluster's own record has milliseconds, a pod's timestamp has not. */
async function podsOfJobs(cluster: System['cluster'], watcher: Watcher): Promise<Map<number, number>> {
  const { creations } = await cluster.report();
  const createdAt = new Map(creations.map((creation) => [creation.name, Date.parse(creation.createdAt)]));
  const workers = await watcher.workersOfJobs();
  return new Map([...workers].map(([job, worker]) => [job, createdAt.get(worker) ?? Number.NaN]));
}

/** One call of a simulator on a connection that is kept, as cheap as a call can be. */
function callOnce(agent: Agent, url: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request(`${url}/readyz`, { agent }, (answer) => answer.on('end', resolve).on('error', reject).resume())
    .on('error', reject)
    .end();
  return promise;
}
