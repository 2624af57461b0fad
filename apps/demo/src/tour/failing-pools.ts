import { SANDBOX } from './tour-platform.ts';
import { ALWAYS, type NoStop, type Stop } from './stop.ts';
import type { End } from '@paddock/simulators/kube/pod-status';
import { NAMESPACE } from '../scenario.ts';
import type { TourWorld } from './world.ts';

/** Pools whose workers do not come up. */
export const FAILING_POOLS = {
  workers_failing: {
    cause: 'the image of the pool linux-next is misspelt, and no node can pull it',
    says: /^Workers for acme in the pool linux-next fail before they have a job \(.*image/i,
    async play(world) {
      const jobs: number[] = [];
      for (const repo of ['acme/shop', 'acme/payments', 'acme/infrastructure'])
        jobs.push(await world.queue(repo, 'linux-next'));
      return jobs[0] ?? 0;
    },
  },
  pool_suspected: { whyNot: 'it lasts only until the first worker of a third account has started' },
  runner_outdated: {
    cause: 'the runners of the pool linux-2025 have a version that GitHub no longer serves',
    says: /^GitHub no longer serves the runner version of the pool linux-2025 \(/,
    async play(world) {
      await world.queue('acme/shop', 'linux-2025');
      return world.queue('acme/shop', 'linux-2025');
    },
  },
  no_capacity: {
    cause: 'no node has the memory that the pool highmem asks for',
    says: /^No node takes \d+ workers? for globex in the pool highmem; more follow when these find nodes or end\.$/,
    async play(world) {
      // Only the first one gets a worker for sure: it shows it.
      const job = await world.queue('globex/firmware', 'highmem', { jobName: 'link' });
      for (const repo of ['acme/shop', 'acme/payments']) await world.queue(repo, 'highmem');
      return job;
    },
  },
} as const satisfies Record<string, Stop | NoStop>;

/** Workers on their way to a job, and why they do not arrive. */
export const WORKERS = {
  quota: {
    cause: 'the quota of the namespace sandbox allows no pod',
    says: /exceeded quota: runners/,
    async play(world) {
      await world.cluster.failNext({
        method: 'POST',
        path: `^/api/v1/namespaces/${SANDBOX}/pods$`,
        status: 403,
        reason: 'Forbidden',
        message:
          'pods is forbidden: exceeded quota: runners, requested: pods=1, used: pods=20, limited: pods=20',
        times: ALWAYS,
      });
      const job = await world.queue('acme/shop', SANDBOX);
      for (const repo of ['globex/website', 'globex/firmware']) await world.queue(repo, SANDBOX);
      return job;
    },
  },
  ready: {
    cause: 'GitHub has given the idle runner of the pool review no job yet',
    says: /^The worker \S+ is ready for it: GitHub has given it no job yet/,
    async play(world) {
      const workflows = ['acme/shop/.github/workflows/review.yml@main'];
      await world.github.setRunnerGroup({ org: 'acme', name: 'review', workflows });
      return world.queue('acme/shop', 'review');
    },
  },
  starting: {
    cause: 'the node takes long to start the pods of the pool large-image',
    says: /^Its worker \S+ is on its way: its pod is starting\.$/,
    play: (world) => world.queue('acme/payments', 'large-image'),
  },
  offline: {
    cause: 'the runner of the pool edge starts and cannot reach GitHub',
    says: /^Its worker \S+ cannot take it: its pod runs, and GitHub calls its runner offline/,
    async play(world) {
      await world.cluster.setRunnerFaults({
        silentRate: 1,
        silentLog: ['The remote name could not be resolved: github.com'],
      });
      return world.queue('globex/firmware', 'edge');
    },
    // Other runners reach GitHub: only this one stays as it is.
    pass: ({ cluster }) => cluster.setRunnerFaults({}),
  },
} as const satisfies Record<string, Stop>;

const workflowName = 'Ends';

/** A job whose worker ends so while it runs: the job’s page leads to the worker. */
async function killed(world: TourWorld, end: End, message?: string): Promise<number> {
  const job = await world.queue('acme/infrastructure', 'arm64', { jobName: end, workflowName });
  const name = await world.untilRunning(job);
  await world.cluster.endPod({ namespace: NAMESPACE, name, end, message });
  return job;
}

/** Jobs that run or have ended. */
export const ENDS = {
  running: {
    cause: 'a job of an hour has its worker',
    says: /^It runs on our worker \S+ since /,
    play: (world) => world.queue('globex/firmware', 'arm64', { workflowName: 'Nightly' }),
  },
  finished: {
    cause: 'a job succeeds',
    says: /^It ended at \S+ with the conclusion success\.$/,
    play: (world) => world.queue('acme/shop', 'arm64', { durationMs: 100, workflowName }),
  },
  failed: {
    cause: 'a job’s own step fails',
    says: /^It ended at \S+ with the conclusion failure\.$/,
    play: (world) =>
      world.queue('acme/shop', 'arm64', { durationMs: 100, result: 'failure', workflowName }),
  },
  cancelled: {
    cause: 'a person cancels a job that waits',
    says: /^It ended at \S+ with the conclusion cancelled\.$/,
    async play(world) {
      const job = await world.queue('acme/shop', 'windows', { workflowName });
      await world.untilWhy(job, ({ state }) => state === 'waiting');
      await world.github.cancelJob(job);
      return job;
    },
  },
  out_of_memory: {
    cause: 'a runner goes over its memory limit, and GitHub fails its job',
    says: /^It ended at \S+ with the conclusion failure/,
    play: (world) => killed(world, 'oom'),
  },
  evicted: {
    cause: 'a node evicts a pod while its job runs',
    says: /^It ended at \S+ with the conclusion failure/,
    play: (world) => killed(world, 'evicted'),
  },
  node_lost: {
    cause: 'a node vanishes while a job runs on it',
    says: /^It ended at \S+ with the conclusion failure/,
    play: (world) => killed(world, 'node-lost'),
  },
} as const satisfies Record<string, Stop>;
