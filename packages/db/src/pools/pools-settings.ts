import { integer } from '@paddock/runtime/settings';

/** At the same pace in every service: what one has stored, the others judge by two looks later. */
export const poolsSettings = {
  poolsRefreshMs: integer({
    env: 'PADDOCK_POOLS_REFRESH_MS',
    doc: 'How often the scheduler looks whether its configuration file has other pools, and ingress which pools are in force; the same for both',
    default: 15_000,
    min: 100,
    max: 600_000,
  }),
};
