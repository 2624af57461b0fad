import { integer, type SettingsOf } from '@paddock/runtime/settings';
import type { ExecutorRules } from './executor-options.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What every service that runs tasks reads. */
export const executorSettings = {
  taskLeaseMs: integer({
    env: 'PADDOCK_TASK_LEASE_MS',
    doc: 'After how long without a heartbeat a running task is taken over; after two fifths of it if its process is gone',
    default: 30 * SECOND_MS,
    min: SECOND_MS,
    max: HOUR_MS,
  }),
  taskPollMs: integer({
    env: 'PADDOCK_TASK_POLL_MS',
    doc: 'How often the queue is looked at without a notification',
    default: 5 * SECOND_MS,
    min: 10,
    max: 5 * MINUTE_MS,
  }),
  taskTimeoutMs: integer({
    env: 'PADDOCK_TASK_TIMEOUT_MS',
    doc: 'Longest run of a task, unless its kind has its own limit',
    default: 5 * MINUTE_MS,
    min: 100,
    max: DAY_MS,
  }),
  taskTakeOverPauseMs: integer({
    env: 'PADDOCK_TASK_TAKEOVER_PAUSE_MS',
    doc: 'For how long an executor takes nothing over after it started or PostgreSQL was away',
    default: 10 * SECOND_MS,
    min: 0,
    max: HOUR_MS,
  }),
  taskBackoffFirstMs: integer({
    env: 'PADDOCK_TASK_BACKOFF_FIRST_MS',
    doc: 'How long a task waits after its first failed run; doubled with each further one, ± 20 %',
    default: 30 * SECOND_MS,
    min: 1,
    max: DAY_MS,
  }),
  taskBackoffLongestMs: integer({
    env: 'PADDOCK_TASK_BACKOFF_LONGEST_MS',
    doc: 'Longest wait of a task between two runs, before the ± 20 %',
    default: HOUR_MS,
    min: 1,
    max: 7 * DAY_MS,
  }),
  operationsKeepOkMs: integer({
    env: 'PADDOCK_OPERATIONS_KEEP_OK_MS',
    doc: 'How long operations that ended well are kept',
    default: DAY_MS,
    min: 0,
    max: 365 * DAY_MS,
  }),
  operationsKeepFailedMs: integer({
    env: 'PADDOCK_OPERATIONS_KEEP_FAILED_MS',
    doc: 'How long failed operations are kept',
    default: 14 * DAY_MS,
    min: 0,
    max: 365 * DAY_MS,
  }),
  taskConcurrencyPercent: integer({
    env: 'PADDOCK_TASK_CONCURRENCY',
    doc: 'How many tasks run at once in one process, in percent of the slots of their kinds; 0 runs none here',
    default: 100,
    min: 0,
    max: 1_000,
  }),
};

/** Kept back from the process's drain limit for giving leases back. */
const RELEASE_SHARE = 0.8;

/** The executor's rules as the settings of a service say; `drainMs` is what the whole process has for stopping. */
export const executorRules = (config: Readonly<SettingsOf<typeof executorSettings>> & { readonly drainMs: number }): ExecutorRules => ({
  leaseMs: config.taskLeaseMs,
  pollMs: config.taskPollMs,
  timeoutMs: config.taskTimeoutMs,
  takeOverPauseMs: config.taskTakeOverPauseMs,
  backoff: { firstMs: config.taskBackoffFirstMs, longestMs: config.taskBackoffLongestMs },
  keep: { okMs: config.operationsKeepOkMs, failedMs: config.operationsKeepFailedMs },
  concurrencyPercent: config.taskConcurrencyPercent,
  drainMs: Math.floor(config.drainMs * RELEASE_SHARE),
});
