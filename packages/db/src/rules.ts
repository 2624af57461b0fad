import { type FailureRules, USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import type { Rules, ValuesOf } from '@paddock/runtime/rules';
import { DAY_MS } from '@paddock/runtime/settings';

/** The rules of what several services do with the same rows. */
export const dbRules = {
  /**
   * How often the scheduler checks its configuration file for other pools, and ingress the database
   * for those in force. The other services rely on a stored document two refreshes later.
   */
  poolsRefreshMs: { value: 15_000, min: 100, max: 600_000 },
  /** A job that waited for longer started late: then a limit of people may be the reason. */
  lateAfterSeconds: { value: 60, min: 1, max: 3_600 },
  /** Most registrations of an installation in a minute: each costs 5 of GitHub's 900 points. */
  registrationsPerMinute: { value: 180, min: 1, max: 1_000_000 },
  /**
   * How long a registered worker without a job waits for the next one. It goes at once if a job
   * needs its place under a cap.
   */
  surplusAfterMs: { value: 60_000, min: 0, max: DAY_MS },
  /** Age at which a warm worker is replaced. GitHub forgets an unused registration after a day. */
  warmLifetimeMs: { value: 43_200_000, min: 1_000, max: 82_800_000 },
  /** First pause of a demand key whose workers fail without a job; each failure doubles it. */
  failingPauseMs: { value: USUAL_FAILURE_RULES.firstPauseMs, min: 100, max: DAY_MS },
  /** Longest such pause: a cause that is mended shows within this time. */
  failingLongestPauseMs: { value: USUAL_FAILURE_RULES.longestPauseMs, min: 100, max: DAY_MS },
} satisfies Rules;

type DbRules = ValuesOf<typeof dbRules>;

export const failureRules = (rules: DbRules): FailureRules => ({
  firstPauseMs: rules.failingPauseMs,
  longestPauseMs: rules.failingLongestPauseMs,
});

/** What a pass of matching obeys, besides the Apps. */
export const matchingRules = (rules: DbRules): Omit<MatchingSettings, 'appIds'> => ({
  registrationsPerMinute: rules.registrationsPerMinute,
  surplusAfterMs: rules.surplusAfterMs,
  warmLifetimeMs: rules.warmLifetimeMs,
  failureRules: failureRules(rules),
});
