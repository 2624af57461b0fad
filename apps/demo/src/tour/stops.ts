import type { WaitReason } from '@paddock/domain/matching/wait-reasons';
import type { IgnoredJob } from '@paddock/domain/pools/place-job';
import { CAPS, CONFIGURATION, STRANGERS, UNSERVED } from './configuration.ts';
import { ENDS, FAILING_POOLS, WORKERS } from './failing-pools.ts';
import { GITHUB } from './github.ts';
import { OUTAGES } from './outages.ts';
import { PEOPLE } from './people.ts';
import type { NoStop, Stop } from './stop.ts';

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
