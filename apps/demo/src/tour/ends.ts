import type { End } from '@paddock/simulators/kube/pod-status';
import { NAMESPACE } from '../scenario.ts';
import type { Stop } from './stop.ts';
import type { TourWorld } from './world.ts';

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
