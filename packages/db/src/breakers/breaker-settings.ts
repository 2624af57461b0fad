import { duration, integer, type SettingsOf, tuning } from '@paddock/runtime/settings';
import type { BreakerRules } from './note-failure.ts';

/** Settings of every service that counts failures. */
export const breakerSettings = tuning({
  breakerFailures: integer({
    env: 'PADDOCK_BREAKER_FAILURES',
    default: 3,
    min: 2,
    max: 1_000,
    doc: 'How many failures of one kind in a row pause a pool, an entity, a repository, GitHub or the cluster',
  }),
  breakerPauseMs: duration({
    env: 'PADDOCK_BREAKER_PAUSE_MS',
    default: 30_000,
    min: 100,
    doc: 'First such pause; doubled after each trial that fails',
  }),
  breakerLongestPauseMs: duration({
    env: 'PADDOCK_BREAKER_LONGEST_PAUSE_MS',
    default: 900_000,
    min: 100,
    doc: 'Longest such pause',
  }),
  refusedPauseMs: duration({
    env: 'PADDOCK_REFUSED_PAUSE_MS',
    default: 3_600_000,
    min: 100,
    max: 604_800_000,
    doc: 'How long an entity or a repository rests after GitHub refused us there, unless a call succeeds meanwhile',
  }),
});

export const breakerRules = (config: SettingsOf<typeof breakerSettings>): BreakerRules => ({
  failures: config.breakerFailures,
  firstPauseMs: config.breakerPauseMs,
  longestPauseMs: config.breakerLongestPauseMs,
  refusedPauseMs: config.refusedPauseMs,
});
