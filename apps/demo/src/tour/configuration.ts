import { listPoolsEndpoint } from '@paddock/api/pools/pools';
import { turnSwitchEndpoint } from '@paddock/api/switches/switches';
import type { Stop } from './stop.ts';
import { type TourWorld, unlessUnknown } from './world.ts';
import { ENTITIES_WITH_ALL } from './tour-platform.ts';

/** A job of a pool that is paused, once it is known to wait for that. */
async function paused(world: TourWorld, label: string): Promise<number> {
  const job = await world.queue('acme/payments', label);
  await world.untilWhy(job, ({ reason }) => reason === 'pool_paused');
  return job;
}

/** Changes one pool in the file. */
export const changePool = (
  world: Pick<TourWorld, 'configure'>,
  named: string,
  change: object,
): void =>
  world.configure(({ pools }) => ({
    pools: pools.map((pool) => (pool.name === named ? { ...pool, ...change } : pool)),
  }));

/** What the configuration file and people keep from being made. */
export const CONFIGURATION = {
  pool_paused: {
    cause: 'the file says `paused: true` for the pool windows',
    says: /^The configuration has paused the pool windows\.$/,
    play: (world) => paused(world, 'windows'),
  },
  making_stopped: {
    cause: 'a person stops the making of workers for wonka, with a note',
    says: /^the demo stopped the making of workers for wonka at .* \(“the bill is not paid”\)\.$/,
    async play(world) {
      await world.until('wonka is known', async () => {
        const input = { how: 'pause', subject: 'entity:wonka', note: 'the bill is not paid' };
        return unlessUnknown(world.ask(turnSwitchEndpoint, input));
      });
      return world.queue('wonka/app', 'x64');
    },
  },
  entity_not_allowed: {
    cause: 'soylent-labs takes the login soylent, which belonged to another account',
    says: /^soylent is not among the configured entities\.$/,
    async play(world) {
      const { github } = world;
      // The configured soylent, which is seen first.
      await world.untilRunning(await world.queue('soylent/app', 'x64'));
      const job = await world.waitBehindOne('soylent-labs/app', 'x64');
      // Under its new login it takes a place of those that only * admits.
      await world.untilBegun('hobbyists/app');
      await github.renameAccount('soylent', 'soylent-foods');
      await github.renameAccount('soylent-labs', 'soylent');
      return job;
    },
  },
  pool_unknown: {
    cause: 'the pool ubuntu-20 leaves the file while a job waits for it',
    says: /^The pool ubuntu-20 is no longer in the configuration\.$/,
    async play(world) {
      const job = await paused(world, 'ubuntu-20');
      world.configure(({ pools }) => ({
        pools: pools.filter(({ name }) => name !== 'ubuntu-20'),
      }));
      return job;
    },
  },
  no_pool_fits: {
    cause: 'the pool ubuntu-22 loses the label docker, which a job asks for',
    says: /^No pool serves the job now: the nearest, ubuntu-22, lacks the label docker\.$/,
    async play(world) {
      const labels = ['ubuntu-22', 'docker'];
      const job = await world.queue('acme/shop', '', { labels });
      await world.untilWhy(job, ({ reason }) => reason === 'pool_paused');
      changePool(world, 'ubuntu-22', { labels: ['self-hosted', 'ubuntu-22'] });
      return job;
    },
  },
} as const satisfies Record<string, Stop>;

/** Waits until no stop changes the pools any more: a change places waiting jobs anew. */
export async function untilPoolsStay(world: TourWorld): Promise<void> {
  await world.until('all changes of the pools are in force', async () => {
    const { items } = await world.ask(listPoolsEndpoint, {});
    const find = (wanted: string) => items.find(({ name }) => name === wanted);
    const hasChanged =
      find('ubuntu-20')?.inForce !== true &&
      find('ubuntu-22')?.labels.includes('docker') === false &&
      (find('spare')?.supply.idle ?? 0) > 0;
    return hasChanged ? true : undefined;
  });
}

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

/** Jobs that no pool serves, and jobs that GitHub holds back. */
export const UNSERVED = {
  ignored_no_label: {
    cause: 'a workflow asks for a label that no pool has',
    says: /^No pool has all of its labels: the nearest, linux-x64, lacks the label large\.$/,
    play: (world) =>
      world.queue('acme/shop', '', { labels: ['self-hosted', 'linux', 'x64', 'large'] }),
  },
  ignored_pool_closed: {
    cause: 'a repository asks for the pool deploy, which does not serve it',
    says: /^The pools deploy have its labels, and none of them serves globex\/website\.$/,
    play: (world) => world.queue('globex/website', 'deploy'),
  },
  ignored_public_repository: {
    cause: 'a public repository asks for a pool that serves private ones',
    says: /^The pool linux-x64 serves no public repositories, and acme\/website is public\.$/,
    async play(world) {
      await world.github.addRepository({ owner: 'acme', name: 'website', private: false });
      return world.queue('acme/website', 'x64');
    },
  },
  refused_entity: {
    cause: 'soylent-labs asks under the login soylent, which belonged to another account',
    says: /^Another entity had the login soylent first/,
    async play(world) {
      await world.until('the login is taken', async () => {
        const { jobs } = await world.github.truth();
        return jobs.some(({ repo }) => repo === 'soylent-foods/app') ? true : undefined;
      });
      return world.queue('soylent/app', 'x64');
    },
  },
  job_waiting: {
    cause: 'the environment of a deployment needs an approval',
    says: /^GitHub holds the job back: its environment has a rule/,
    play: (world) => world.queue('acme/shop', 'x64', { waiting: true, jobName: 'production' }),
  },
} as const satisfies Record<string, Stop>;

/** Nobody admits its account; a later change of the file admits everybody. */
export const STRANGERS = {
  ignored_entity: {
    cause: 'students install the App before the file admits them',
    says: /^students is not among the configured entities\.$/,
    play: (world) => world.queue('students/app', 'arm64'),
    // Then everybody is admitted, and the job runs, under the common cap.
    async pass(world) {
      world.configure(() => ({ entities: ENTITIES_WITH_ALL }));
      await world.untilBegun('students/app');
    },
  },
} as const satisfies Record<string, Stop>;
