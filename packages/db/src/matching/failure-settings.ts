import { type FailureRules, USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { duration, type SettingsOf, tuning } from '@paddock/runtime/settings';

/** Settings of every service that counts failures of workers. */
export const failureSettings = tuning({
  failingPauseMs: duration({
    env: 'PADDOCK_FAILING_PAUSE_MS',
    default: USUAL_FAILURE_RULES.firstPauseMs,
    min: 100,
    doc: 'First pause of a demand key whose workers fail before they have a job; doubled by each further failure',
  }),
  failingLongestPauseMs: duration({
    env: 'PADDOCK_FAILING_LONGEST_PAUSE_MS',
    default: USUAL_FAILURE_RULES.longestPauseMs,
    min: 100,
    doc: 'Longest such pause',
  }),
});

export const failureRules = (config: SettingsOf<typeof failureSettings>): FailureRules => ({
  firstPauseMs: config.failingPauseMs,
  longestPauseMs: config.failingLongestPauseMs,
});
