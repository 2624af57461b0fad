import { SANDBOX } from './tour-platform.ts';
import { ALWAYS, type NoStop, type Stop } from './stop.ts';

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
