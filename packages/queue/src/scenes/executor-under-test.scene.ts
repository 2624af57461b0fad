import { afterEach, beforeEach } from '@jest/globals';
import { clientConfig } from '@paddock/db/connection/connect';
import type { Db } from '@paddock/db/schema/tables';
import { createWake } from '@paddock/runtime/loop';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { type ClaimOptions, claimTasks } from '../claim-tasks.ts';
import { enqueue, type NewTask } from '../enqueue.ts';
import { createExecutor, type ExecutorOptions } from '../executor.ts';
import type { ExecutorEvents, Processed, TaskIdentity } from '../executor-events.ts';
import type { Kinds } from '../kind.ts';

type Details = Parameters<ExecutorEvents['taskProcessed']>[2];

/** Notes the events of an executor, in order. */
const noteEvents = () => {
  const told = {
    processed: [] as ({ task: TaskIdentity; outcome: Processed } & Partial<Details>)[],
    lost: [] as TaskIdentity[],
    released: [] as { task: TaskIdentity; why: string }[],
    takenOver: [] as TaskIdentity[],
    endedByCrashes: [] as TaskIdentity[],
    failed: [] as { what: string; error: unknown }[],
  };
  const events: ExecutorEvents = {
    tasksInFlight: () => undefined,
    taskProcessed: (of, outcome, details) =>
      void told.processed.push({ task: of, outcome, ...details }),
    taskReleased: (of, why) => void told.released.push({ task: of, why }),
    taskLost: (of) => void told.lost.push(of),
    taskTakenOver: (of) => void told.takenOver.push(of),
    taskCrashed: (of) => void told.endedByCrashes.push(of),
    executorFailed: (what, error) => void told.failed.push({ what, error }),
  };
  return { told, events };
};

export interface Place {
  readonly url: string;
  readonly schema: string;
  readonly db: Db;
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
) {
  const { told, events } = noteEvents();
  const holder = `executor-${++started}`;
  const wake = createWake();
  const executor = createExecutor({
    wake,
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
    executor: { wake: () => wake.ring() },
    told,
    /** Stops it, and waits until it has. */
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}

export const enqueueNow = (db: Db, ...tasks: NewTask[]) =>
  db.transaction().execute((trx) => enqueue(trx, tasks));

/** A task of a kind for a worker of the given name. */
export const task = (kind: string, id: string, more: Partial<NewTask> = {}): NewTask => ({
  kind,
  subject: { type: 'worker', id },
  ...more,
});

const MINUTE_MS = 60_000;

/** The queue of a test file: empty before each test, whose executors are stopped after it. */
export function useQueue() {
  const database = useTestDatabase();
  let running: ReturnType<typeof startExecutor>[] = [];
  const stopAll = async (): Promise<void> => {
    await Promise.all(running.map(({ stop }) => stop()));
    running = [];
  };
  beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));
  afterEach(stopAll);
  return {
    database,
    start(kinds: Kinds, overrides: Partial<ExecutorOptions> = {}, place: Place = database) {
      const executor = startExecutor(place, kinds, overrides);
      running.push(executor);
      return executor;
    },
    stopAll,
    enqueue: (...tasks: NewTask[]) => enqueueNow(database.db, ...tasks),
    /** Claims tasks, 100 of the kind `a` if no slots are given, as an executor of the name `h`. */
    claim: (
      slots: ClaimOptions['slots'] = { a: 100 },
      more: Partial<ClaimOptions> = {},
      db: Db = database.db,
    ) =>
      claimTasks(db, {
        holder: 'h',
        claimMs: MINUTE_MS,
        slots,
        takeOver: true,
        keepFailedMs: MINUTE_MS,
        ...more,
      }),
    untilListening: () =>
      waitFor('the executor to listen', async () => {
        const { rows } = await sql`
          select from pg_stat_activity where datname = current_database() and application_name like 'executor-%' and query ~* '^(listen|select 1)'`.execute(
          database.db,
        );
        return rows.length > 0;
      }),
    letClaimsExpire: () =>
      sql`update tasks set locked_until = now() - interval '1 s' where status = 'running'`.execute(
        database.db,
      ),
    makeDue: () => sql`update tasks set due_at = now()`.execute(database.db),
    tasks: () => database.db.selectFrom('tasks').selectAll().orderBy('subject_id').execute(),
    operations: () => database.db.selectFrom('operations').selectAll().execute(),
  };
}
