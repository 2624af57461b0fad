import { type DatabaseConnection, openDatabase } from '@paddock/db/connection/connect';
import { listen, type ListenOptions } from '@paddock/db/connection/listen';
import { taskEventChannel } from '@paddock/db/connection/schema-name';
import { createWake, loop, type Wake } from '@paddock/runtime/loop';
import type { Service } from '@paddock/runtime/reach';
import type { Secret } from '@paddock/runtime/secret';
import {
  beatMs,
  type ClaimedTask,
  claimTasks,
  nextDueInMs,
  shareLeft,
  taskOf,
} from './claim-tasks.ts';
import { decideSettlement, failedRun, type SettlementRules } from './decide-settlement.ts';
import { type ExecutorEvents, identityOf, reportSettled } from './executor-events.ts';
import { type ExecutorRules, scaledSlots } from './executor-settings.ts';
import { createHeartbeat, type HeldTask, type HeldTasks, keyOf, unended } from './heartbeat.ts';
import type { Kinds } from './kind.ts';
import { maskSecrets, messageOf } from './mask-secrets.ts';
import { requeueTasks, retryConflicts, writeSettlements } from './write-settlements.ts';
import { runOf, type RunResult } from './run-handler.ts';
import { createSlots, LONGEST_WAIT_MS } from './slots.ts';
import { createSettlementBatcher } from './settlement-batcher.ts';

export interface ExecutorOptions extends ExecutorRules {
  readonly connection: Pick<DatabaseConnection, 'db'>;
  /** For the heartbeat's and the listener's own connections; from `clientConfig`. */
  readonly config: ListenOptions['config'];
  readonly schema: string;
  /** What else the listener hears: a process needs one connection to listen. */
  readonly hears?: Pick<ListenOptions, 'channels' | 'onWake'>;
  readonly kinds: Kinds;
  /** Whether a service is away from this process. */
  readonly isAway?: (service: Service) => boolean;
  /** Rings for work that no notification announces, as when a service is back. */
  readonly wake?: Wake;
  /** Names this process; unique per start. */
  readonly holder: string;
  /** Values to mask in stored messages and outputs. More may be added. */
  readonly secrets?: readonly Secret[];
  /** Gives [0, 1). */
  readonly random?: () => number;
  readonly events: ExecutorEvents;
}

/**
 * How long to claim nothing before asking when the next task is due. A busy queue is claimed from
 * sooner.
 */
const LULL_MS = 100;

const SHORTEST_LIMIT_MS = 1_000;

/** How long giving claims back may take: nearly the rest of the process's drain limit. */
const releaseMs = (drainMs: number): number => Math.min(4_000, Math.max(1_000, drainMs * 0.15));

/** Runs tasks of the given kinds. Any number of executors may share a schema. */
export function createExecutor(options: ExecutorOptions) {
  const { kinds, holder, claimMs, pollMs, keep, drainMs, events } = options;
  const { isAway = () => false, wake = createWake() } = options;
  const { db } = options.connection;
  const lookMs = beatMs(claimMs);
  const slots = createSlots(scaledSlots(kinds, options.concurrencyPercent));
  const mask = maskSecrets(options.secrets ?? []);
  const held: HeldTasks = new Map();
  const oneLess = createWake();
  /** A claim has failed, perhaps after it had committed. */
  let isUnsure = false;
  /** When to look for expired claims of others. */
  let lookFrom = Number.NEGATIVE_INFINITY;
  let dueLookFrom = 0;
  /** How long to wait for a notification before the next claim. */
  let restMs = pollMs;

  const rulesFor = (kind: string): SettlementRules => ({
    backoff: options.backoff,
    mask,
    random: options.random ?? Math.random,
    timeoutMs: kinds[kind]?.timeoutMs ?? options.timeoutMs,
  });

  const batcher = createSettlementBatcher({
    write: (batch) => writeSettlements(db, batch, keep),
    replace: (finished, error) => {
      const { task } = finished.held;
      const text = `what the handler returned cannot be stored: ${messageOf(error)}`;
      return { ...finished, settlement: failedRun(task, 'error', text, rulesFor(task.kind)) };
    },
    onSettled(finished, ours) {
      held.delete(keyOf(finished.claim));
      reportSettled(events, finished, ours);
      oneLess.ring();
      // A successor may be due: no executor could claim it while this task ran.
      wake.ring();
    },
    onError: (error) => events.executorFailed('settle', error),
  });

  async function claimOnce(renew: () => Promise<void>): Promise<void> {
    restMs = Math.min(pollMs, lookMs);
    for (const entry of slots.overdue()) entry.run.interrupt('no-slot');
    const free = Object.fromEntries(
      slots.room().filter(([kind]) => !kinds[kind]?.needs?.some(isAway)),
    );
    if (Object.keys(free).length === 0) return;
    if (isUnsure) {
      await renew();
      await giveBackLostClaims();
      isUnsure = false;
      // Other holders renew first.
      lookFrom = performance.now() + lookMs;
    }
    const asked = performance.now();
    const takeOver = asked >= lookFrom;
    if (takeOver) lookFrom = asked + lookMs;
    const claimed = await claimTasks(db, {
      holder,
      claimMs,
      slots: free,
      takeOver,
      keepFailedMs: keep.failedMs,
    });
    for (const row of claimed) {
      if (row.ended) events.taskCrashed(identityOf(taskOf(row, () => 0)));
      else start(row, asked);
    }
    restMs = Math.min(restMs, await findRest(Object.keys(free), claimed.length > 0));
  }

  /**
   * Gives back claims that committed and whose answer was lost with the connection: they have this
   * holder's name, and it does not know them. Otherwise their tasks would wait until they expire,
   * and count a crash.
   */
  async function giveBackLostClaims(): Promise<void> {
    const carried = await db
      .selectFrom('tasks')
      .select(['id', 'fence'])
      .where('status', '=', 'running')
      .where('locked_by', '=', holder)
      .execute();
    const lost = carried
      .filter((claim) => !held.has(keyOf(claim)))
      .map(({ id, fence }) => ({ id, fence, holder, delayMs: 0 }));
    await retryConflicts(() => requeueTasks(db, lost, keep.okMs));
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

  function start(row: ClaimedTask, asked: number): void {
    const kind = kinds[row.kind];
    if (kind === undefined) return;
    const renewal = { sentAt: asked };
    // A run that was given up has none left, though its claim is renewed until it is settled.
    const task = taskOf(row, () =>
      entry.endedAt === undefined ? shareLeft(performance.now() - renewal.sentAt, claimMs) : 0,
    );
    if (row.takenOver) events.taskTakenOver(identityOf(task));
    const entry: HeldTask = {
      task,
      claim: { id: row.id, fence: row.fence, holder },
      run: runOf(kind.handler, task, rulesFor(row.kind).timeoutMs),
      claimedAt: performance.now(),
      renewal,
      startedAt: undefined,
      endedAt: undefined,
    };
    held.set(keyOf(row), entry);
    void entry.run.result.then((result) => finish(entry, result));
    events.tasksInFlight(row.kind, slots.add(entry));
  }

  function finish(entry: HeldTask, result: RunResult): void {
    const { task, claim } = entry;
    entry.endedAt = performance.now();
    events.tasksInFlight(task.kind, slots.remove(entry));
    batcher.add({
      claim,
      settlement: decideSettlement(task, result, rulesFor(task.kind)),
      held: entry,
      result,
    });
    wake.ring();
  }

  /** Waits until nothing is held, or for `ms`. */
  async function waitUntilIdle(ms: number): Promise<void> {
    const never = new AbortController();
    const deadline = performance.now() + ms;
    while (held.size > 0 && performance.now() < deadline)
      await oneLess.wait(deadline - performance.now(), never.signal);
  }

  async function drain(): Promise<void> {
    for (const entry of slots.waiting()) entry.run.interrupt('stopping');
    await waitUntilIdle(drainMs);
    for (const entry of unended(held)) entry.run.interrupt('stopping');
    await waitUntilIdle(releaseMs(drainMs));
    const left = held.size;
    if (left > 0)
      events.executorFailed(
        'release',
        new Error(`${left} claims could not be given back in time; they will expire`),
      );
  }

  const noteFailure = (what: 'claim' | 'heartbeat') => (error: unknown) => {
    isUnsure = true;
    events.executorFailed(what, error);
  };

  /** Runs tasks until the signal aborts, then drains. Resolves when this process holds no claim. */
  async function run(signal: AbortSignal): Promise<void> {
    for (const kind of Object.keys(kinds)) events.tasksInFlight(kind, 0);
    // A renewal that gets no answer is tried again on another connection, in time.
    const limitMs = Math.max(SHORTEST_LIMIT_MS, lookMs);
    const limits = { connectionTimeoutMillis: limitMs, answerLimitMs: limitMs };
    const own = openDatabase({ ...options.config, ...limits }, 1);
    const tasks = taskEventChannel(options.schema);
    const onError = noteFailure('heartbeat');
    const heartbeat = createHeartbeat({ db: own.db, held, holder, claimMs, onError });
    const ended = new AbortController();
    const background = [
      batcher.run(ended.signal),
      heartbeat.run(ended.signal),
      listen(
        {
          config: options.config,
          channels: [tasks, ...(options.hears?.channels ?? [])],
          onWake: (channel, payload) => {
            if (channel !== tasks) options.hears?.onWake(channel, payload);
            if (channel === undefined || (channel === tasks && Object.hasOwn(kinds, payload ?? '')))
              wake.ring();
          },
          onError: (error) => events.executorFailed('listen', error),
        },
        signal,
      ),
    ];
    await loop(
      () => claimOnce(heartbeat.once),
      {
        wake,
        intervalMs: () => (slots.waiting().length > 0 ? Math.min(restMs, LONGEST_WAIT_MS) : restMs),
        onError: noteFailure('claim'),
      },
      signal,
    );
    await drain();
    ended.abort();
    await Promise.all(background);
    await own.close();
  }

  return { run };
}
