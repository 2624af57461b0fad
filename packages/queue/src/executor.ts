import { isUnavailable } from '@paddock/db/connection/errors';
import { listen } from '@paddock/db/connection/listen';
import { type OwnConnection, ownConnection } from '@paddock/db/connection/own-connection';
import { taskEventChannel } from '@paddock/db/connection/schema-name';
import { loop } from '@paddock/runtime/loop';
import { createWake } from '@paddock/runtime/wake';
import { type ClaimedTask, claimTasks, taskOf } from './claim-tasks.ts';
import { maskSecrets, messageOf } from './mask-secrets.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { createHeartbeat } from './heartbeat.ts';
import { createHeldTasks, type HeldTask, scaledSlots } from './held-tasks.ts';
import { beatLimits, holderName, shareLeft, SHOW_SESSION } from './claim-expiry.ts';
import { giveBackLostClaims } from './give-back-lost-claims.ts';
import { nextDueInMs } from './next-due.ts';
import { type Finished, identityOf, reportSettled } from './report-settled.ts';
import { runHandler, type RunResult } from './run-handler.ts';
import { writeSettlements } from './write-settlements.ts';
import { failedRun, decideSettlement, type SettlementRules } from './decide-settlement.ts';
import { createSettlementBatcher } from './settlement-batcher.ts';

export interface Executor {
  /** Runs tasks until the signal aborts, then drains. Resolves when this process holds no claim. */
  run(signal: AbortSignal): Promise<void>;
  /** Checks the queue now. */
  wake(): void;
}

/**
 * How long to claim nothing before asking when the next task is due. A busy queue is claimed from
 * sooner.
 */
const LULL_MS = 100;

/** How long giving claims back may take: nearly the rest of the process's drain limit. */
const releaseMs = (drainMs: number): number => Math.min(4_000, Math.max(1_000, drainMs * 0.15));

/** Runs tasks of the given kinds. Any number of executors may share a schema. */
export function createExecutor(options: ExecutorOptions): Executor {
  const { kinds, claimMs, pollMs, takeOverPauseMs, keep, drainMs, events } = options;
  const { isAway = () => false } = options;
  const { db } = options.connection;
  const holder = holderName(options.holder, claimMs);
  const slots = scaledSlots(kinds, options.concurrencyPercent);
  const mask = maskSecrets(options.secrets ?? []);
  const held = createHeldTasks();
  const wake = createWake();
  const oneLess = createWake();
  let away = false;
  let takeOverLookedAt = Number.NEGATIVE_INFINITY;
  let dueLookFrom = 0;
  /** How long to wait for a notification before the next claim. */
  let restMs = pollMs;

  const rulesFor = (kind: string): SettlementRules => ({
    backoff: options.backoff,
    mask,
    random: options.random ?? Math.random,
    timeoutMs: kinds[kind]?.timeoutMs ?? options.timeoutMs,
  });

  const batcher = createSettlementBatcher<Finished>({
    write: (batch) => writeSettlements(db, batch, keep),
    replace: (finished, error) => {
      const { task } = finished.held;
      const text = `what the handler returned cannot be stored: ${messageOf(error)}`;
      return { ...finished, settlement: failedRun(task, 'error', text, rulesFor(task.kind)) };
    },
    onSettled(finished, ours) {
      held.remove(finished.held);
      reportSettled(events, finished, ours);
      oneLess.ring();
      // A successor may be due: no executor could claim it while this task ran.
      wake.ring();
    },
    onError: (error) => events.failed('settle', error),
  });

  async function claimOnce(renew: () => Promise<void>, connection: OwnConnection): Promise<void> {
    restMs = pollMs;
    const free = Object.fromEntries(
      Object.entries(slots).flatMap(([kind, all]) =>
        all > held.runningOf(kind) && !kinds[kind]?.needs?.some(isAway)
          ? [[kind, all - held.runningOf(kind)]]
          : [],
      ),
    );
    if (Object.keys(free).length === 0) return;
    if (away) {
      await renew();
      await giveBackLostClaims(db, holder, held, keep.okMs);
      away = false;
    }
    const asked = performance.now();
    const answeringForMs = connection.answeringForMs();
    const takeOver =
      answeringForMs !== undefined &&
      answeringForMs >= takeOverPauseMs &&
      asked >= takeOverLookedAt + pollMs / 2;
    const claimed = await claimTasks(db, {
      holder,
      slots: free,
      takeOver,
      keepFailedMs: keep.failedMs,
    });
    if (takeOver) takeOverLookedAt = asked;
    for (const row of claimed) {
      if (row.ended) events.endedByCrashes(identityOf(taskOf(row, () => 0)));
      else start(row, asked, connection);
    }
    // A task that ended after too many crashes may have a due successor.
    if (claimed.some(({ ended }) => ended)) wake.ring();
    const pauseMs = takeOverPauseMs - (answeringForMs ?? 0);
    restMs = Math.min(
      pollMs,
      await findRest(Object.keys(free), claimed.length > 0),
      pauseMs > 0 ? pauseMs : pollMs,
    );
  }

  /** How long until the next task is due. Asks only in a lull: claims come first. */
  async function findRest(of: readonly string[], isBusy: boolean): Promise<number> {
    const now = performance.now();
    if (isBusy) dueLookFrom = now + LULL_MS;
    if (now < dueLookFrom) return dueLookFrom - now;
    const dueInMs = await nextDueInMs(db, of);
    dueLookFrom = performance.now() + LULL_MS;
    return dueInMs ?? pollMs;
  }

  function start(row: ClaimedTask, asked: number, connection: OwnConnection): void {
    const kind = kinds[row.kind];
    if (kind === undefined) return;
    const renewal = { sentAt: asked };
    const task = taskOf(row, () =>
      shareLeft(
        performance.now() - renewal.sentAt,
        claimMs,
        connection.answeringForMs() !== undefined,
      ),
    );
    if (row.taken_over) events.takenOver(identityOf(task));
    const startedAt = performance.now();
    const run = runHandler(kind.handler, task, rulesFor(row.kind).timeoutMs);
    const entry: HeldTask = {
      task,
      claim: { id: row.id, fence: row.fence, holder },
      run,
      renewal,
      startedAt,
      endedAt: undefined,
    };
    held.add(entry);
    events.inFlight(row.kind, held.runningOf(row.kind));
    void run.result.then((result) => finish(entry, result));
  }

  function finish(entry: HeldTask, result: RunResult): void {
    const { task, claim } = entry;
    held.end(entry);
    events.inFlight(task.kind, held.runningOf(task.kind));
    batcher.add({
      claim,
      settlement: decideSettlement(task, result, rulesFor(task.kind)),
      held: entry,
      result,
    });
    wake.ring();
  }

  function notePostgresAway(
    what: 'claim' | 'heartbeat',
    connection: OwnConnection,
    error: unknown,
  ): void {
    if (isUnavailable(error)) {
      away = true;
      // The heartbeat need not find out again.
      connection.suspectBreak();
    }
    events.failed(what, error);
  }

  /** Waits until nothing is held, or for `ms`. */
  async function waitUntilIdle(ms: number): Promise<void> {
    const never = new AbortController();
    const deadline = performance.now() + ms;
    while (held.size() > 0 && performance.now() < deadline)
      await oneLess.wait(deadline - performance.now(), never.signal);
  }

  async function drain(): Promise<void> {
    await waitUntilIdle(drainMs);
    for (const { run } of held.running()) run.interrupt('stopping');
    await waitUntilIdle(releaseMs(drainMs));
    const left = held.size();
    if (left > 0)
      events.failed(
        'release',
        new Error(`${left} claims could not be given back in time; they will expire`),
      );
  }

  async function runWith(connection: OwnConnection, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const noteAway = (what: 'claim' | 'heartbeat') => (error: unknown) =>
      notePostgresAway(what, connection, error);
    const heartbeat = createHeartbeat({
      connection,
      held,
      holder,
      claimMs,
      onError: noteAway('heartbeat'),
    });
    const background = [
      batcher.run(ended.signal),
      heartbeat.run(ended.signal),
      listen(
        {
          config: options.config,
          channels: [taskEventChannel(options.schema)],
          onWake: (_channel, kind) => {
            if (kind === undefined || Object.hasOwn(kinds, kind)) wake.ring();
          },
          onError: (error) => events.failed('listen', error),
        },
        signal,
      ),
    ];
    await loop(
      () => claimOnce(heartbeat.once, connection),
      { wake, intervalMs: () => restMs, onError: noteAway('claim') },
      signal,
    );
    await drain();
    ended.abort();
    await Promise.all(background);
  }

  return {
    wake: () => wake.ring(),
    async run(signal) {
      for (const kind of Object.keys(kinds)) events.inFlight(kind, 0);
      const connection = ownConnection({
        config: options.config,
        begin: { text: SHOW_SESSION, values: [holder] },
        ...beatLimits(claimMs),
      });
      try {
        await runWith(connection, signal);
      } finally {
        await connection.close();
      }
    },
  };
}
