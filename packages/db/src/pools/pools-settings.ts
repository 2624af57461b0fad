import { duration, tuning } from '@paddock/runtime/settings';

/** At the same pace in every service: what one has stored, the others judge by two looks later. */
export const poolsSettings = tuning({
  poolsRefreshMs: duration({
    env: 'PADDOCK_POOLS_REFRESH_MS',
    default: 15_000,
    min: 100,
    max: 600_000,
    doc: 'How often the scheduler checks its configuration file for other pools, and ingress the database for those in force',
  }),
});
