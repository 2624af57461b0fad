import type { WaitReason } from '@paddock/domain/matching/wait-reasons';
import type { IgnoredJob } from '@paddock/domain/pools/place-job';
import type { WaitAnswer } from '@paddock/domain/why/explain-wait';
import type { WorkerState } from '@paddock/domain/why/worker-progress';
import { CAPS, CONFIGURATION, STRANGERS, UNSERVED } from './configuration.ts';
import { ENDS, FAILING_POOLS, WORKERS } from './failing-pools.ts';
import { GITHUB } from './github.ts';
import { OUTAGES } from './outages.ts';
import { PEOPLE } from './people.ts';
import type { NoStop, Shown, Stop } from './stop.ts';

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

/** Every state of an answer, and the stop that shows it. */
export const ANSWERS: Readonly<Record<WaitAnswer['state'], Shown | NoStop>> = {
  waiting: { at: 'at_pool_cap' },
  held: { at: 'job_waiting' },
  not_served: { at: 'ignored_no_label' },
  running: { at: 'running' },
  ended: { at: 'finished' },
  in_doubt: { whyNot: 'its only delivery has to be hours old' },
};

/** Every state of a worker on its way, and the stop whose page lists such a worker. */
export const WORKERS_ON_THE_WAY: Readonly<Record<WorkerState, Shown | NoStop>> = {
  ready: { at: 'ready' },
  starting: { at: 'starting' },
  offline: { at: 'offline' },
  registered: { at: 'quota' },
  reserved: { at: 'installation_refused' },
  no_node: { at: 'no_capacity' },
  stuck: { at: 'workers_failing' },
  registering: { whyNot: 'it lasts for one call of GitHub' },
  stopping: { whyNot: 'its key makes another worker meanwhile: `draining` has the worker itself' },
};
