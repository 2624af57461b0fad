import { listPoolsEndpoint } from '@paddock/api/pools/pools';
import { setSwitchEndpoint } from '@paddock/api/switches/switches';
import type { Stop } from './stop.ts';
import { type TourWorld, unlessUnknown } from './world.ts';

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
): Promise<void> =>
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
        const input = { subject: 'entity:wonka', note: 'the bill is not paid' };
        return unlessUnknown(world.ask(setSwitchEndpoint, input));
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
      await world.configure(({ pools }) => ({
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
      await changePool(world, 'ubuntu-22', { labels: ['self-hosted', 'ubuntu-22'] });
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
