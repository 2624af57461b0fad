import { type EventLog, line, tellEvents } from '@paddock/runtime/events';
import type { Metrics } from '@paddock/runtime/metrics';
import type { HeldTask } from './heartbeat.ts';
import type { Task } from './kind.ts';
import type { FailureReason } from './operations.ts';
import type { Interruption, RunResult } from './run-handler.ts';
import type { ClaimSettlement } from './write-settlements.ts';

/** Which task an event is about. */
export type TaskIdentity = Pick<Task, 'id' | 'kind' | 'attempt' | 'crashes' | 'deliveryGuid'> & {
  readonly subject: Pick<Task['subject'], 'type' | 'id'>;
};

/** Operations list what ended well, tasks why they wait; the log shows what may need attention. */
const LEVELS = {
  ok: 'debug',
  snoozed: 'debug',
  retry: 'warn',
  failed: 'error',
  poison: 'error',
} as const;

export type Processed = keyof typeof LEVELS;

/** `dueInMs`: when a requeued task is due again. */
interface Run {
  readonly durationMs: number;
  readonly reason?: FailureReason;
  readonly message?: string;
  readonly dueInMs?: number;
}

const TABLE = {
  /** A run was settled. */
  taskProcessed: (task: TaskIdentity, outcome: Processed, { message: problem, ...run }: Run) =>
    line[LEVELS[outcome]]('task processed', { task, outcome, ...run, problem }),
  /** The executor gave up a claim before its run ended. */
  taskReleased: (task: TaskIdentity, why: Interruption) =>
    line.warn('task released', { task, why }),
  /** The task has another claim or is gone: this process's settlement changed nothing. */
  taskLost: (task: TaskIdentity) => line.warn('task belongs to another holder', { task }),
  /** The task's last executor went away; the task runs here now. */
  taskTakenOver: (task: TaskIdentity) => line.warn('task taken over', { task }),
  /** The task's executors crashed too often: it ended as failed. */
  taskCrashed: (task: TaskIdentity) => line.error('task ended after too many crashes', { task }),
  /** A statement of the executor failed. It will try again. */
  executorFailed: (step: 'claim' | 'settle' | 'heartbeat' | 'listen' | 'release', error: unknown) =>
    line.error('the executor could not reach its tables', { step, error }),
};

/** An executor calls these while it works. None may throw. */
export type ExecutorEvents = ReturnType<typeof executorEvents>;

const DURATION_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** An executor's metrics and log lines, the same in every service. */
export function executorEvents(metrics: Metrics, log: EventLog) {
  const events = tellEvents(TABLE, { log, metrics });
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
  return {
    ...events,
    /** How many tasks of the kind run in this process now. */
    tasksInFlight: (kind: string, count: number) => inFlight.set({ kind }, count),
    taskProcessed(task: TaskIdentity, outcome: Processed, run: Run) {
      processed.inc({ kind: task.kind, outcome });
      duration.observe({ kind: task.kind }, run.durationMs / 1_000);
      events.taskProcessed(task, outcome, run);
    },
    taskCrashed(task: TaskIdentity) {
      processed.inc({ kind: task.kind, outcome: 'failed' });
      events.taskCrashed(task);
    },
  };
}

/** A run that has ended, with its settlement. */
export interface Finished extends ClaimSettlement {
  readonly held: HeldTask;
  readonly result: RunResult;
}

export const identityOf = ({
  id,
  kind,
  subject,
  attempt,
  crashes,
  deliveryGuid,
}: Task): TaskIdentity => {
  const { type, id: subjectId } = subject;
  return { id, kind, subject: { type, id: subjectId }, attempt, crashes, deliveryGuid };
};

/** Reports the end of a run. `ours` is false where another executor had claimed its task. */
export function reportSettled(
  events: ExecutorEvents,
  { held, settlement, result }: Finished,
  ours: boolean,
): void {
  const task = identityOf(held.task);
  if (!ours) return events.taskLost(task);
  if (settlement.processed === 'released')
    return events.taskReleased(task, result.ended === 'interrupted' ? result.by : 'claim-lost');
  const { processed } = settlement;
  const { endedAt = performance.now(), startedAt = endedAt } = held;
  const durationMs = Math.round(endedAt - startedAt);
  switch (settlement.to) {
    case 'ok':
      return events.taskProcessed(task, processed, { durationMs });
    case 'failed': {
      const { reason, message } = settlement;
      return events.taskProcessed(task, processed, { durationMs, reason, message });
    }
    case 'queued': {
      const { delayMs: dueInMs, failure } = settlement;
      const message = failure && { message: failure.message };
      return events.taskProcessed(task, processed, { durationMs, dueInMs, ...message });
    }
    default:
      return settlement satisfies never;
  }
}
