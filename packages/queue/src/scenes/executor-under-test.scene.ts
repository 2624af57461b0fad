import { clientConfig } from '@paddock/db/connection/connect';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { claimTasks } from '../claim-tasks.ts';
import { enqueue, type NewTask } from '../enqueue.ts';
import { createExecutor, type Executor, type ExecutorOptions } from '../executor.ts';
import type { ExecutorEvents, Processed, TaskIdentity } from '../executor-events.ts';
import type { Kinds } from '../kind.ts';

/** The events of an executor, in order. */
export interface Told {
  readonly processed: {
    task: TaskIdentity;
    outcome: Processed;
    dueInMs?: number;
    message?: string;
    reason?: string;
  }[];
  readonly lost: TaskIdentity[];
  readonly released: { task: TaskIdentity; why: string }[];
  readonly takenOver: TaskIdentity[];
  readonly endedByCrashes: TaskIdentity[];
  readonly failed: { what: string; error: unknown }[];
}

function recordEvents(): { told: Told; events: ExecutorEvents } {
  const told: Told = {
    processed: [],
    lost: [],
    released: [],
    takenOver: [],
    endedByCrashes: [],
    failed: [],
  };
  return {
    told,
    events: {
      tasksInFlight: () => undefined,
      taskProcessed: (task, outcome, details) =>
        void told.processed.push({ task, outcome, ...details }),
      taskReleased: (task, why) => void told.released.push({ task, why }),
      taskLost: (task) => void told.lost.push(task),
      taskTakenOver: (task) => void told.takenOver.push(task),
      taskCrashed: (task) => void told.endedByCrashes.push(task),
      executorFailed: (what, error) => void told.failed.push({ what, error }),
    },
  };
}

export interface RunningExecutor {
  readonly executor: Executor;
  readonly told: Told;
  /** Stops it, and waits until it has. */
  stop(): Promise<void>;
}

export interface Place {
  readonly url: string;
  readonly schema: string;
  readonly db: Kysely<Database>;
}

const HOUR_MS = 3_600_000;
const LONGEST_CLAIM_MS = 300_000;
let started = 0;

/**
 * Starts an executor with long times, so that nothing happens by itself unless the test shortens
 * one of them.
 */
export function startExecutor(
  place: Place,
  kinds: Kinds,
  overrides: Partial<ExecutorOptions> = {},
): RunningExecutor {
  const { told, events } = recordEvents();
  const holder = `executor-${++started}`;
  const executor = createExecutor({
    connection: place,
    config: clientConfig({
      url: place.url,
      schema: place.schema,
      applicationName: `${holder}-own`,
    }),
    schema: place.schema,
    kinds,
    holder,
    claimMs: LONGEST_CLAIM_MS,
    pollMs: 250,
    timeoutMs: HOUR_MS,
    backoff: { firstMs: HOUR_MS, longestMs: HOUR_MS },
    keep: { okMs: HOUR_MS, failedMs: HOUR_MS },
    concurrencyPercent: 100,
    drainMs: 10_000,
    events,
    ...overrides,
  });
  const stopping = new AbortController();
  const running = executor.run(stopping.signal);
  return {
    executor,
    told,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}

/**
 * Starts executors for the tests of a file; `stopAll`, after each test, stops those of that test.
 */
export function executorsOf() {
  let running: RunningExecutor[] = [];
  return {
    start(place: Place, kinds: Kinds, overrides: Partial<ExecutorOptions> = {}): RunningExecutor {
      const executor = startExecutor(place, kinds, overrides);
      running.push(executor);
      return executor;
    },
    async stopAll(): Promise<void> {
      await Promise.all(running.map(({ stop }) => stop()));
      running = [];
    },
  };
}

export const enqueueNow = (db: Kysely<Database>, ...tasks: NewTask[]) =>
  db.transaction().execute((trx) => enqueue(trx, tasks));

/** A task of a kind for a worker of the given name. */
export const task = (kind: string, id: string, more: Partial<NewTask> = {}): NewTask => ({
  kind,
  subject: { type: 'worker', id },
  ...more,
});

/** Claims up to 100 due tasks of a kind, as an executor whose claims last a minute. */
export const claimAll = (db: Kysely<Database>, kind: string): ReturnType<typeof claimTasks> =>
  claimTasks(db, {
    holder: 'h',
    claimMs: 60_000,
    slots: { [kind]: 100 },
    takeOver: true,
    keepFailedMs: 60_000,
  });
