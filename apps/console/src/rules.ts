import type { Rules } from '@paddock/runtime/rules';

export const consoleRules = {
  /** How often to look for changes, for all open pages together. */
  lookEveryMs: { value: 2_000, min: 50, max: 10_000 },
  /**
   * Longest time for one statement of an answer, and for a connection. The slowest question takes a
   * fraction of it beside a year of rows.
   */
  statementTimeoutMs: { value: 5_000, min: 50, max: 60_000 },
} satisfies Rules;
