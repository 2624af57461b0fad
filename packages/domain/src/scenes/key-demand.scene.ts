import type { KeyDemand } from '../matching/caps.ts';

export const ACME = 1;
export const INSTALLATION = 31;

/** Demand of one key of ACME in the pool `linux`, which lacks three workers. */
export const keyDemand = (demandKey: number, given: Partial<KeyDemand> = {}): KeyDemand => ({
  demandKey,
  entityId: ACME,
  login: 'Acme',
  installationId: INSTALLATION,
  scopeRepoId: 0,
  pool: 'linux',
  lacking: 3,
  unassigned: 0,
  oldest: demandKey,
  ...given,
});
