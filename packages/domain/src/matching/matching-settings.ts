import type { FailureRules } from './failure-classes.ts';

/** The operator's settings for a pass of matching. */
export interface MatchingSettings {
  /** The Apps that are configured here: no other can register a runner. */
  readonly appIds: readonly number[];
  /** Most registrations of one installation in a minute: GitHub's secondary limit. */
  readonly registrationsPerMinute: number;
  /** How long a registered worker without a job is left alone, in milliseconds. */
  readonly surplusAfterMs: number;
  /**
   * How long a warm worker is kept, in milliseconds: GitHub forgets a registration after an idle
   * day.
   */
  readonly warmLifetimeMs: number;
  readonly failureRules: FailureRules;
  /** Most workers that one pass makes; by default `MOST_PER_PASS`. */
  readonly most?: number;
}

/** Keeps the transaction short: 13 000 took 7 s on a busy machine, and all other passes wait. */
export const MOST_PER_PASS = 1_000;
