import type { Metrics } from '@paddock/runtime/metrics';
import type { FailureReason } from './failures.ts';

/** Which task an event is about. */
export interface TaskIdentity {
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly type: string; readonly id: string };
  readonly attempt: number;
  readonly crashes: number;
  readonly deliveryGuid: string | null;
}

export type Processed = 'ok' | 'retry' | 'failed' | 'poison' | 'snoozed';

/** An executor calls these while it works. None may throw. */
export interface ExecutorEvents {
  /** How many tasks of the kind run in this process now. */
  inFlight(kind: string, count: number): void;
  /** A run was settled. `dueInMs`: when a requeued task is due again. */
  processed(
    task: TaskIdentity,
    outcome: Processed,
    details: { durationMs: number; reason?: FailureReason; message?: string; dueInMs?: number },
  ): void;
  /** The executor gave up a claim before its run ended: the process stops, or could not renew. */
  released(task: TaskIdentity, why: 'stopping' | 'claim-lost'): void;
  /** The task has another claim or is gone: this process's settlement changed nothing. */
  lost(task: TaskIdentity): void;
  /** The task's last executor went away; the task runs here now. */
  takenOver(task: TaskIdentity): void;
  /** The task's executors crashed too often: it ended as failed. */
  endedByCrashes(task: TaskIdentity): void;
  /** A statement of the executor failed. It will try again. */
  failed(what: 'claim' | 'settle' | 'heartbeat' | 'listen' | 'release', error: unknown): void;
}

/** The part of a logger that is used here. */
type Log = Readonly<
  Record<'error' | 'warn' | 'info' | 'debug', (message: string, fields: object) => unknown>
>;

/** Operations list what ended well; the log shows what may need attention. */
const LEVELS = {
  ok: 'debug',
  snoozed: 'info',
  retry: 'warn',
  failed: 'error',
  poison: 'error',
} as const;

const DURATION_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** An executor's metrics and log lines, the same in every service. */
export function executorEvents(metrics: Metrics, log: Log): ExecutorEvents {
  const processed = metrics.counter('paddock_task_processed_total', 'Runs of tasks by outcome', [
    'kind',
    'outcome',
  ]);
  const duration = metrics.histogram(
    'paddock_task_duration_seconds',
    'How long runs of tasks took',
    DURATION_BUCKETS,
    ['kind'],
  );
  const inFlight = metrics.gauge('paddock_task_in_flight', 'Tasks that run in this process', [
    'kind',
  ]);
  const takenOver = metrics.counter(
    'paddock_task_taken_over_total',
    'Tasks taken over from executors that went away',
    ['kind'],
  );
  const lost = metrics.counter(
    'paddock_task_lost_total',
    'Runs whose task another executor had claimed when they ended',
    ['kind'],
  );
  const errors = metrics.counter(
    'paddock_executor_errors_total',
    'Failed statements of the executor, by step',
    ['step'],
  );
  return {
    inFlight: (kind, count) => inFlight.set({ kind }, count),
    processed(task, outcome, details) {
      processed.inc({ kind: task.kind, outcome });
      duration.observe({ kind: task.kind }, details.durationMs / 1_000);
      log[LEVELS[outcome]]('task processed', { task, outcome, ...details });
    },
    released: (task, why) => log.warn('task released', { task, why }),
    lost(task) {
      lost.inc({ kind: task.kind });
      log.warn('task belongs to another holder', { task });
    },
    takenOver(task) {
      takenOver.inc({ kind: task.kind });
      log.warn('task taken over', { task });
    },
    endedByCrashes(task) {
      processed.inc({ kind: task.kind, outcome: 'failed' });
      log.error('task ended after too many crashes', { task });
    },
    failed(what, error) {
      errors.inc({ step: what });
      log.error('the executor could not reach its tables', { step: what, error });
    },
  };
}
