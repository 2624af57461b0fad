import { DAY_MS, duration, integer, type SettingsOf, tuning } from '@paddock/runtime/settings';

const YEAR_MS = 365 * DAY_MS;

/** The settings of every service that runs tasks. */
export const executorSettings = {
  taskConcurrencyPercent: integer({
    env: 'PADDOCK_TASK_CONCURRENCY',
    default: 100,
    min: 0,
    max: 1_000,
    doc: 'How many tasks a process runs at once, in percent of the slots of their kinds. 0 runs none. Raise the pool size with it',
  }),
  operationsKeepOkMs: duration({
    env: 'PADDOCK_OPERATIONS_KEEP_OK_MS',
    default: DAY_MS,
    max: YEAR_MS,
    doc: 'How long to keep operations that ended well',
  }),
  operationsKeepFailedMs: duration({
    env: 'PADDOCK_OPERATIONS_KEEP_FAILED_MS',
    default: 14 * DAY_MS,
    max: YEAR_MS,
    doc: 'How long to keep failed operations',
  }),
  ...tuning({
    taskLeaseMs: duration({
      env: 'PADDOCK_TASK_CLAIM_MS',
      default: 15_000,
      min: 1_000,
      max: 300_000,
      doc: 'After how long without a heartbeat another process takes a task over',
    }),
    taskPollMs: duration({
      env: 'PADDOCK_TASK_POLL_MS',
      default: 5_000,
      min: 10,
      max: 300_000,
      doc: 'How often to check the queue without a notification',
    }),
    taskTimeoutMs: duration({
      env: 'PADDOCK_TASK_TIMEOUT_MS',
      default: 300_000,
      min: 100,
      doc: 'Longest run of a task whose kind sets no other limit',
    }),
    taskBackoffFirstMs: duration({
      env: 'PADDOCK_TASK_BACKOFF_FIRST_MS',
      default: 30_000,
      min: 1,
      doc: 'How long a task waits after its first failed run; doubled after each further one, ± 20 %',
    }),
    taskBackoffLongestMs: duration({
      env: 'PADDOCK_TASK_BACKOFF_LONGEST_MS',
      default: 3_600_000,
      min: 1,
      doc: 'Longest wait of a task between two runs, before the ± 20 %',
    }),
  }),
};

/** The rest of the process's drain limit is for giving claims back. */
const RELEASE_SHARE = 0.8;

/** Reads an executor's rules from a service's settings. `drainMs` is the whole process's limit. */
export const executorRules = (
  config: Readonly<SettingsOf<typeof executorSettings>> & { readonly drainMs: number },
) => ({
  claimMs: config.taskLeaseMs,
  pollMs: config.taskPollMs,
  timeoutMs: config.taskTimeoutMs,
  backoff: { firstMs: config.taskBackoffFirstMs, longestMs: config.taskBackoffLongestMs },
  keep: { okMs: config.operationsKeepOkMs, failedMs: config.operationsKeepFailedMs },
  concurrencyPercent: config.taskConcurrencyPercent,
  /** How long running tasks may go on after the stop. */
  drainMs: Math.floor(config.drainMs * RELEASE_SHARE),
});

/** How an executor runs tasks: `executorSettings` says what each of them means. */
export type ExecutorRules = Readonly<ReturnType<typeof executorRules>>;
