import type { Rules } from '@paddock/runtime/rules';

export const ingressRules = {
  /** Largest body of a delivery. GitHub sends at most 25 MB. */
  maxBodyBytes: { value: 26_214_400, min: 1_024, max: 104_857_600 },
  /** Longest time for a request to arrive whole: as long as GitHub waits for the answer. */
  bodyTimeoutMs: { value: 10_000, min: 100, max: 300_000 },
  /** A delivery that is not stored after this time gets a 503. GitHub itself waits for 10 s. */
  answerTimeoutMs: { value: 3_000, min: 100, max: 9_000 },
  /**
   * Longest time to connect to PostgreSQL, and for one transaction of deliveries. It ends before
   * the answer is due. A statement gets four fifths of it.
   */
  writeTimeoutMs: { value: 2_500, min: 50, max: 9_000 },
  /** Most deliveries in one transaction. */
  maxBatch: { value: 64, min: 1, max: 2_000 },
  /** Most transactions of deliveries at one time, each on a connection of its own. */
  writers: { value: 4, min: 1, max: 50 },
} satisfies Rules;
