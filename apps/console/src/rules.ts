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

/** What node:http allows the console's callers; times in milliseconds. */
export const CONNECTION_LIMITS = {
  requestTimeout: 10_000,
  headersTimeout: 10_000,
  /** A connection on which nothing moves for so long is closed; longer than its keep-alive. */
  timeout: 70_000,
  maxConnections: 2_000,
};
