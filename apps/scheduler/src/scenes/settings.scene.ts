import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import type { fc } from '@paddock/testing/random-cases';

export const APP_ID = 1001;

/**
 * As the settings have it by default, but for the limit of registrations, which most tests are not
 * about, and for the age of a surplus.
 */
export const GATE = {
  appIds: [APP_ID, 1002],
  registrationsPerMinute: 1_000_000,
  surplusAfterMs: 0,
  warmLifetimeMs: 43_200_000,
  failureRules: USUAL_FAILURE_RULES,
};

/** As the settings have it by default. */
export const STOP_RULES = {
  idleApartMs: 60_000,
  unreadMs: 600_000,
  lastLookMs: 30_000,
  offlineMs: 600_000,
  retryMs: 30_000,
};

/** How pods are followed in tests. */
export const FOLLOWING = {
  holder: 'test',
  unexplainedGraceMs: 60_000,
  leaseMs: 8_000,
  renewMs: 2_000,
  namespacesMs: 50,
  stuckAfterMs: 300_000,
  watchSeconds: 120,
};

/** A step of random histories: it is drawn as often as its weight says, and a failure names it. */
export const step = <T>(
  weight: number,
  name: string,
  values: fc.Arbitrary<T>,
  take: (value: T) => unknown,
) => ({
  weight,
  arbitrary: values.map((value) => ({
    take: () => take(value),
    toString: () => `${name} ${JSON.stringify(value)}`,
  })),
});
