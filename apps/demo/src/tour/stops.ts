import type { WaitReason } from '@paddock/domain/matching/wait-reasons';
import type { IgnoredJob } from '@paddock/domain/pools/place-job';
import { CAPS, CONFIGURATION, STRANGERS, UNSERVED } from './configuration.ts';
import { ENDS, FAILING_POOLS, WORKERS } from './failing-pools.ts';
import { GITHUB } from './github.ts';
import { PEOPLE } from './people.ts';
import { ALWAYS, type NoStop, type Stop } from './stop.ts';
import type { TourWorld } from './world.ts';

const queueShort = (world: TourWorld, repo: string): Promise<number> =>
  world.queue(repo, 'x64', { durationMs: 100, workflowName: 'During an outage' });

/** These hold everything back, or would disturb the others: each is caused alone, then ended. */
const OUTAGES = {
  github_unavailable: {
    cause: 'GitHub answers every call with 503 for some seconds',
    says: /^GitHub has not answered since /,
    async play(world) {
      await world.github.failNext({ path: '.', status: 503, times: ALWAYS });
      return queueShort(world, 'acme/shop');
    },
    pass: ({ github }) => github.clearCallFaults(),
  },
  cluster_unavailable: {
    cause: 'the cluster cuts every connection for some seconds',
    says: /^The cluster has not answered since /,
    async play(world) {
      await world.cluster.failNext({ times: ALWAYS });
      await world.cluster.cutWatches();
      return queueShort(world, 'globex/website');
    },
    pass: ({ cluster }) => cluster.clearFaults(),
  },
  unexplained_ends: {
    cause: 'GitHub never says that a job of acme/payments began and ended, and does not answer',
    says: /may have run the job ended without a known one: GitHub is asked/,
    async play(world) {
      const { github } = world;
      await github.setDeliveryFaults({ omitActions: ['in_progress', 'completed'] });
      const path = '^/repos/acme/payments/actions/';
      await github.failNext({ path, status: 502, times: ALWAYS });
      return world.queue('acme/payments', 'arm64', { durationMs: 100, jobName: 'unheard' });
    },
    // Only that job goes unheard; GitHub stays silent about it.
    pass: ({ github }) => github.setDeliveryFaults({}),
  },
} as const satisfies Record<string, Stop>;

/** Every reason to wait: one that is missing here does not compile. */
export const REASONS: Readonly<
  Record<WaitReason | IgnoredJob['ignored'] | 'job_waiting', Stop | NoStop>
> = {
  ...OUTAGES,
  ...STRANGERS,
  ...CAPS,
  ...CONFIGURATION,
  ...GITHUB,
  ...FAILING_POOLS,
  ...UNSERVED,
};

/** Workers on their way, ends of jobs, and what people do. */
export const OTHERS: Readonly<Record<string, Stop | NoStop>> = {
  ...WORKERS,
  ...ENDS,
  ...PEOPLE,
  redelivery_given_up: { whyNot: 'a delivery has to fail for three days' },
};
