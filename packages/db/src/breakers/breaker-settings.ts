import { integer, type SettingsOf } from '@paddock/runtime/settings';
import type { BreakerRules } from './note-failure.ts';

/** What every service that counts failures reads. */
export const breakerSettings = {
  breakerFailures: integer({
    env: 'PADDOCK_BREAKER_FAILURES',
    doc: 'Failures of one kind in a row, at a pool, an account, a repository, GitHub or the cluster, after which nothing is tried there for a while',
    default: 3,
    min: 2,
    max: 1_000,
  }),
  breakerPauseMs: integer({
    env: 'PADDOCK_BREAKER_PAUSE_MS',
    doc: 'First pause after such failures; doubled each time the one trial after it fails',
    default: 30_000,
    min: 100,
    max: 86_400_000,
  }),
  breakerLongestPauseMs: integer({
    env: 'PADDOCK_BREAKER_LONGEST_PAUSE_MS',
    doc: 'Longest such pause',
    default: 900_000,
    min: 100,
    max: 86_400_000,
  }),
  refusedPauseMs: integer({
    env: 'PADDOCK_REFUSED_ACCOUNT_PAUSE_MS',
    doc: 'How long GitHub is not asked about an account or a repository after it refused us there, unless a call succeeds meanwhile',
    default: 3_600_000,
    min: 100,
    max: 604_800_000,
  }),
};

export const breakerRules = (config: SettingsOf<typeof breakerSettings>): BreakerRules => ({
  failures: config.breakerFailures,
  firstPauseMs: config.breakerPauseMs,
  longestPauseMs: config.breakerLongestPauseMs,
  refusedPauseMs: config.refusedPauseMs,
});
