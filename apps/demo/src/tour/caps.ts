import type { Stop } from './stop.ts';
import type { TourWorld } from './world.ts';

/** Fills `places` with jobs of an hour, then queues one more, which has to wait. */
async function fill(
  world: TourWorld,
  label: string,
  places: readonly string[],
  waits: string,
): Promise<number> {
  const jobs: number[] = [];
  for (const repo of places) jobs.push(await world.queue(repo, label, { workflowName: 'Nightly' }));
  await Promise.all(jobs.map((job) => world.untilRunning(job)));
  return world.queue(waits, label, { jobName: 'test', workflowName: 'Pull request' });
}

/** Caps that are used up by jobs that run. */
export const CAPS = {
  at_pool_cap: {
    cause: 'four jobs hold the four places of the pool gpu',
    says: /^maxWorkers of the pool gpu is 4, and 4 workers are there\.$/,
    async play(world) {
      const first = ['acme/shop', 'acme/payments', 'globex/firmware', 'globex/firmware'];
      const waits = await fill(world, 'gpu', first, 'acme/infrastructure');
      for (const repo of ['globex/website', 'acme/shop', 'acme/shop'])
        await world.queue(repo, 'gpu', { jobName: 'train', workflowName: 'Nightly' });
      return waits;
    },
  },
  at_entity_cap: {
    cause: 'two jobs hold the two places of initech',
    says: /^maxWorkers of initech is 2, and 2 workers are there\.$/,
    play: (world) => fill(world, 'x64', ['initech/app', 'initech/app'], 'initech/app'),
  },
  at_common_cap: {
    cause: 'two jobs hold the two places of all accounts that only * admits',
    says: /^commonMaxWorkers of '\*' is 2, and \d workers are there\.$/,
    // The other place has a job of students, which waited until everybody was admitted.
    play: (world) => fill(world, 'arm64', ['hobbyists/app'], 'hobbyists/app'),
  },
  at_repository_cap: {
    cause: 'a job holds the one place of acme/shop in the pool containers',
    says: /^maxWorkersPerRepository of the pool containers for acme\/shop is 1, and 1 worker is there/,
    play: (world) => fill(world, 'containers', ['acme/shop'], 'acme/shop'),
  },
} as const satisfies Record<string, Stop>;
