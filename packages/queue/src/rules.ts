import type { Rules } from '@paddock/runtime/rules';
import { DAY_MS } from '@paddock/runtime/settings';

export const queueRules = {
  /** After how long without a heartbeat another process takes a task over. */
  taskLeaseMs: { value: 15_000, min: 1_000, max: 300_000 },
  /** How often to check the queue without a notification, which is a hint and may be lost. */
  taskPollMs: { value: 5_000, min: 10, max: 300_000 },
  /** Longest run of a task whose kind sets no other limit. */
  taskTimeoutMs: { value: 300_000, min: 100, max: DAY_MS },
  /** How long a task waits after its first failed run; doubled after each further one, ± 20 %. */
  taskBackoffFirstMs: { value: 30_000, min: 1, max: DAY_MS },
  /** Longest wait of a task between two runs, before the ± 20 %. */
  taskBackoffLongestMs: { value: 3_600_000, min: 1, max: DAY_MS },
} satisfies Rules;
