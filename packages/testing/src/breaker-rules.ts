import type { BreakerRules } from '@paddock/db/breakers/note-failure';

/** As the settings have it by default. */
export const BREAKER_RULES: BreakerRules = {
  failures: 3,
  firstPauseMs: 30_000,
  longestPauseMs: 900_000,
  refusedPauseMs: 3_600_000,
};
