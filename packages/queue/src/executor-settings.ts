import type { ValuesOf } from '@paddock/runtime/rules';
import { DAY_MS, duration, integer, type SettingsOf } from '@paddock/runtime/settings';
import type { Kinds } from './kind.ts';
import type { queueRules } from './rules.ts';

const YEAR_MS = 365 * DAY_MS;

/** The settings of every service that runs tasks. */
export const executorSettings = {
  taskConcurrencyPercent: integer({
    env: 'PADDOCK_TASK_CONCURRENCY',
    default: 100,
    min: 0,
    max: 1_000,
    doc: 'How many tasks a process runs at once, in percent of the slots of their kinds. 0 runs none',
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
};

/** The rest of the process's drain limit is for giving claims back. */
const RELEASE_SHARE = 0.8;

/** Reads an executor's rules from a service's settings and rules. `drainMs` is the whole process's limit. */
export const executorRules = (
  config: SettingsOf<typeof executorSettings> &
    ValuesOf<typeof queueRules> & { readonly drainMs: number },
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

/** How an executor runs tasks: `executorSettings` and `queueRules` say what each means. */
export type ExecutorRules = Readonly<ReturnType<typeof executorRules>>;

/** Slots of each kind after scaling. At least one, unless `percent` is 0. */
export function scaledSlots(kinds: Kinds, percent: number): Record<string, number> {
  const scale = (slots: number) =>
    percent === 0 ? 0 : Math.max(1, Math.round((slots * percent) / 100));
  return Object.fromEntries(Object.entries(kinds).map(([name, { slots }]) => [name, scale(slots)]));
}
