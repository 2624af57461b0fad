import { backoffMs } from '@paddock/queue/decide-settlement';
import { executorRules, executorSettings } from '@paddock/queue/executor-settings';
import { beatMs, ENOUGH_LEFT, shareLeft } from '@paddock/queue/claim-tasks';
import { queueRules } from '@paddock/queue/rules';
import { KEEP_MONTHS } from '@paddock/queue/operations';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_MAX_CRASHES, type NewTask } from '@paddock/queue/enqueue';
import { ROWS_OF_RECOVERY } from '@paddock/reconciler/sweeps';
import { redeliverTask, sweepTask } from '@paddock/reconciler/schedules/sweep-schedules';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { readConfig } from '@paddock/runtime/read-config';
import { code, type NumberRow, row, rule, setting } from './number-row.ts';

/** An executor's defaults. */
const rules = executorRules(
  readConfig(
    {
      settings: { ...executorSettings, drainMs: serviceSettings.drainMs },
      rules: { queue: queueRules },
    },
    {},
    () => ({}),
  ),
);

const expiry = (name: string, read: () => number | undefined) =>
  code(`${name} in packages/queue/src/claim-tasks.ts`, read);
const attempts = (name: string, task: NewTask) =>
  code(
    `${name} in apps/reconciler/src/schedules/sweep-schedules.ts`,
    () => task.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
  );

/** The queue: claims, attempts, waits. */
export const tasks: readonly NumberRow[] = [
  row(
    'D3',
    '5 s',
    'How often the queue is checked without a notification',
    rule('queue', 'taskPollMs'),
  ),
  row(
    'D4',
    '30 s',
    'Wait after a first failed run; doubled with each further one',
    rule('queue', 'taskBackoffFirstMs'),
  ),
  row('D4', '1 h', 'Longest such wait', rule('queue', 'taskBackoffLongestMs')),
  row(
    'D4',
    '20 %',
    'Share of the wait that is added or subtracted at random',
    code('backoffMs in packages/queue/src/decide-settlement.ts', jitterPercent),
  ),
  row(
    'D4',
    '5',
    'Runs that fail before a task does',
    code('DEFAULT_MAX_ATTEMPTS in packages/queue/src/enqueue.ts', () => DEFAULT_MAX_ATTEMPTS),
  ),
  row(
    'D4',
    '3',
    'The same for a sweep, which its next tick repeats',
    attempts('sweepTask', sweepTask('look-up-jobs')),
  ),
  row('D4', '3', 'The same for a cycle of redelivery', attempts('redeliverTask', redeliverTask(1))),
  row(
    'D5',
    '3',
    'Crashes of its executor that a task survives',
    code('DEFAULT_MAX_CRASHES in packages/queue/src/enqueue.ts', () => DEFAULT_MAX_CRASHES),
  ),
  row(
    'D5',
    '15 s',
    'Time without a renewal after which any executor may take a task over',
    rule('queue', 'taskLeaseMs'),
  ),
  row(
    'D5',
    '3 s',
    'How often a claim is renewed, and expired ones of others are looked for',
    expiry('beatMs', () => beatMs(rules.claimMs)),
  ),
  row(
    'D5',
    '10 s',
    'Time without a renewal after which a holder interrupts its runs',
    expiry('shareLeft', interruptedAfterMs),
  ),
  row(
    'C6',
    '5 s',
    'Least rest of a claim with which an outside call begins: a third',
    expiry('ENOUGH_LEFT', () => Math.round(ENOUGH_LEFT * rules.claimMs)),
  ),
  row('D13', '5 min', 'Longest run of a task', rule('queue', 'taskTimeoutMs')),
  row(
    'D7',
    '100 %',
    'Share of the slots in ARCHITECTURE.md that is in use',
    setting('PADDOCK_TASK_CONCURRENCY'),
  ),
  row('H2', '30 s', 'Longest time for a service to stop', setting('PADDOCK_DRAIN_MS')),
  row(
    'H2',
    '24 s',
    'The part of it in which tasks may go on',
    code('executorRules in packages/queue/src/executor-settings.ts', () => rules.drainMs),
  ),
  row(
    'E8',
    '1 min',
    'How often stuck tasks are looked for',
    rule('reconciler', 'recoverTasksEverySeconds'),
  ),
  row(
    'E8',
    '250',
    'Most stuck tasks that one pass frees',
    code('ROWS_OF_RECOVERY in apps/reconciler/src/sweeps.ts', () => ROWS_OF_RECOVERY),
  ),
  row(
    'F2',
    '24 h',
    'How long an operation that ended well is kept',
    setting('PADDOCK_OPERATIONS_KEEP_OK_MS'),
  ),
  row(
    'F2',
    '14 d',
    'How long a failed operation is kept',
    setting('PADDOCK_OPERATIONS_KEEP_FAILED_MS'),
  ),
  row(
    'F3',
    '13 months',
    'How long the counts of ended tasks are kept',
    code('KEEP_MONTHS in packages/queue/src/operations.ts', () => KEEP_MONTHS),
  ),
  row(
    'A11',
    '24',
    'Connections in the pool of the reconciler: one for each task, and a few more',
    setting('PADDOCK_RECONCILER_POOL_SIZE'),
  ),
];

function jitterPercent(): number {
  const least = backoffMs(1, { firstMs: 1_000, longestMs: 1_000 }, () => 0);
  return 100 - least / 10;
}

/** After how many whole seconds without a renewal no more is left of a claim than a run needs. */
function interruptedAfterMs(): number | undefined {
  const seconds = Array.from({ length: rules.claimMs / 1_000 }, (_, second) => second * 1_000);
  return seconds.find((ageMs) => shareLeft(ageMs + 1, rules.claimMs) < ENOUGH_LEFT);
}
