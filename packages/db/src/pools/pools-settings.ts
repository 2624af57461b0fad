import { duration, tuning } from '@paddock/runtime/settings';

/** The same in every service: the others rely on a stored document two refreshes later. */
export const poolsSettings = tuning({
  poolsRefreshMs: duration({
    env: 'PADDOCK_POOLS_REFRESH_MS',
    default: 15_000,
    min: 100,
    max: 600_000,
    doc: 'How often the scheduler checks its configuration file for other pools, and ingress the database for those in force',
  }),
});
