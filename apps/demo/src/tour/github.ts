import { untilPoolsStay } from './configuration.ts';
import { ALWAYS, type Stop } from './stop.ts';
import type { TourWorld } from './world.ts';

/** As many jobs as failures pause a key. */
const JOBS = 3;

async function refused(
  world: TourWorld,
  repo: string,
  answer: { path: string; status: number; message: string },
): Promise<number> {
  const { path, status, message } = answer;
  await world.github.failNext({ path, status, body: { message }, times: ALWAYS });
  const jobs: number[] = [];
  for (let n = 0; n < JOBS; n += 1) jobs.push(await world.queue(repo, 'x64'));
  return jobs[0] ?? 0;
}

/** What GitHub refuses, or does not give. */
export const GITHUB = {
  installation_refused: {
    cause: 'GitHub answers 403 to everything that the App asks for hooli',
    says: /^GitHub refuses what the App asks for hooli \(.*Resource not accessible by integration/,
    play: (world) =>
      refused(world, 'hooli/app', {
        path: '^/orgs/hooli/',
        status: 403,
        message: 'Resource not accessible by integration',
      }),
  },
  installation_suspended: {
    cause: 'the owner of tyrell suspends the App while a job waits',
    says: /^The App \d+ is suspended on tyrell since /,
    async play(world) {
      const job = await world.waitBehindOne('tyrell/app', 'x64');
      await world.github.suspend(world.installation('tyrell'));
      return job;
    },
  },
  installation_gone: {
    cause: 'the owner of oscorp removes the App while a job waits',
    says: /^The App \d+ is no longer installed on oscorp since /,
    async play(world) {
      const job = await world.waitBehindOne('oscorp/app', 'x64');
      await world.github.uninstall(world.installation('oscorp'));
      return job;
    },
  },
  app_not_configured: {
    cause: 'the file of ingress names an App that the scheduler’s lacks',
    says: /^No App of the configuration file is installed on cyberdyne\.$/,
    play: (world) => world.queue('cyberdyne/app', 'x64'),
  },
  repository_gone: {
    cause: 'GitHub answers 404 for octo/gone, as for one that was deleted',
    says: /^GitHub does not show the repository octo\/gone to the App \(/,
    play: (world) =>
      refused(world, 'octo/gone', { path: '^/repos/octo/gone', status: 404, message: 'Not Found' }),
  },
  repository_refused: {
    cause: 'GitHub answers 403 to each registration at octo/closed',
    says: /^GitHub refuses to register runners at octo\/closed \(/,
    play: (world) =>
      refused(world, 'octo/closed', {
        path: '^/repos/octo/closed/actions/runners/generate-jitconfig$',
        status: 403,
        message: 'Repository level self-hosted runners are disabled on this repository.',
      }),
  },
  github_budget: {
    cause: 'GitHub allows stark one more registration in this hour, and two jobs come',
    says: /^GitHub (allows 0 more registrations of runners for stark until|has asked Paddock to make no runners for stark until) /,
    async play(world) {
      await world.github.setRateLimit({
        caller: { installationId: world.installation('stark') },
        resource: 'actions_runner_registration',
        remaining: 1,
        resetInMs: 3_600_000,
      });
      await world.untilRunning(await world.queue('stark/app', 'x64'));
      return world.queue('stark/app', 'x64');
    },
  },
  runner_group_open: {
    cause: 'the group of the pool deploy lets in all repositories, the pool serves one',
    says: /, and the pool deploy does not serve that\.$/,
    async play(world) {
      await world.github.setRunnerGroup({ org: 'acme', name: 'deploy', visibility: 'all' });
      return world.queue('acme/infrastructure', 'deploy', { workflowName: 'Deploy' });
    },
  },
  github_does_not_assign: {
    cause: 'the runner group release does not admit acme/shop, so its runners get no job',
    says: /^GitHub gives idle runners of the pool release at acme no job \(/,
    async play(world) {
      const repositories = ['acme/payments'];
      const group = { org: 'acme', name: 'release', visibility: 'selected', repositories } as const;
      await world.github.setRunnerGroup(group);
      return world.queue('acme/shop', 'release', { workflowName: 'Release' });
    },
  },
  pool_closed: {
    cause: 'umbrella, which the pool partners names, changes its login while a job waits',
    says: /^The pool partners no longer serves umbrella-group\.$/,
    async play(world) {
      await untilPoolsStay(world);
      const job = await world.waitBehindOne('umbrella/app', 'partners');
      await world.github.renameAccount('umbrella', 'umbrella-group');
      // Its next delivery has the new login.
      await world.queue('umbrella-group/app', 'windows');
      return job;
    },
  },
} as const satisfies Record<string, Stop>;
