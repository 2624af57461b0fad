import { ENTITIES_WITH_ALL } from './tour-platform.ts';
import type { Stop } from './stop.ts';

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
      await world.configure(() => ({ entities: ENTITIES_WITH_ALL }));
      await world.untilBegun('students/app');
    },
  },
} as const satisfies Record<string, Stop>;
