import type { WhyNotReady } from '@paddock/db/connection/wait-until-fit';
import type { Pools } from './pools.ts';
import type { WriteHealth } from './write-health.ts';

export interface ReadinessOptions {
  /** Why the database is not ready. */
  readonly whyNotReady: WhyNotReady;
  readonly pools: Pick<Pools, 'current'>;
  readonly writes: Pick<WriteHealth, 'whyNot' | 'forget'>;
}

/** Says why no delivery can be taken now. */
export function createReadiness({ whyNotReady, pools, writes }: ReadinessOptions): WhyNotReady {
  return async () => {
    const unfit = await whyNotReady();
    if (unfit !== undefined) {
      // This cause explains the failed writes, and its end will be seen here.
      writes.forget();
      return unfit;
    }
    if (pools.current() === undefined)
      return 'there is no pools document in the database yet: the scheduler loads it from its configuration file';
    return writes.whyNot();
  };
}
