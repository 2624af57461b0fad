import { setTimeout as sleep } from 'node:timers/promises';

export type Variant = 'paddock' | 'graphile';

/**
 * How many tasks run at one time: 16 as in the services, and more to show how far a queue scales.
 */
export const SLOTS = [16, 64, 500] as const;

/** Ends the workers once their tasks are settled. */
export type Stop = () => Promise<void>;

/** A queue under measurement, in a separate schema, with no-op handlers. */
export interface Contender {
  readonly variant: Variant;
  /** Resolves when this many new tasks are committed and due. */
  enqueue(count: number): Promise<void>;
  /**
   * Resolves when workers for this many simultaneous tasks are up and listen; `onStart` is called
   * at the beginning of every handler.
   */
  start(slots: number, onStart: () => void): Promise<Stop>;
  /** Whether a task is left that no statement has settled yet. */
  hasUnsettled(): Promise<boolean>;
  /** Removes all tasks and their history. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** How many tasks one statement enqueues, for all contenders. */
const ENQUEUE_BATCH = 1_000;

/** The sizes of the statements that enqueue `count` tasks. */
export function batchSizes(count: number): number[] {
  const full = Array.from({ length: Math.floor(count / ENQUEUE_BATCH) }, () => ENQUEUE_BATCH);
  const rest = count % ENQUEUE_BATCH;
  return rest === 0 ? full : [...full, rest];
}

/** Longest time for one measurement; a queue that needs more has lost a task. */
const LIMIT_MS = 60_000;
/** Tasks before the first that counts: until then the workers may still be connecting. */
const WARM_UPS = 5;
/** Between two tasks of the idle measurement, so that all work for the last one is done. */
const IDLE_MS = 5;
/** After a start, for connecting and a first look at an empty queue. */
const SETTLED_MS = 200;

/**
 * Tasks per second, with the workers up and idle: from the first call that enqueues some of `count`
 * until the last is settled.
 */
export async function measureThroughput(
  contender: Contender,
  slots: number,
  count: number,
): Promise<number> {
  const all = Promise.withResolvers<void>();
  let started = 0;
  const stop = await contender.start(slots, () => {
    started += 1;
    if (started === count) all.resolve();
  });
  await sleep(SETTLED_MS);
  const began = performance.now();
  await contender.enqueue(count);
  await within(all.promise, () => `${contender.variant} has started ${started} of ${count} tasks`);
  await untilSettled(contender);
  const seconds = (performance.now() - began) / 1_000;
  await stop();
  await contender.clear();
  return count / seconds;
}

/**
 * Milliseconds from the call that enqueues one task, its commit included, to the start of its
 * handler, with no other work.
 */
export async function measureStarts(
  contender: Contender,
  slots: number,
  count: number,
): Promise<number[]> {
  let onStart: (() => void) | undefined;
  const stop = await contender.start(slots, () => onStart?.());
  const starts: number[] = [];
  for (let i = 0; i < WARM_UPS + count; i++) {
    const started = Promise.withResolvers<number>();
    onStart = () => started.resolve(performance.now());
    const asked = performance.now();
    await contender.enqueue(1);
    await within(started.promise, () => `${contender.variant} has not started a single task`);
    if (i >= WARM_UPS) starts.push((await started.promise) - asked);
    await untilSettled(contender);
    await sleep(IDLE_MS);
  }
  await stop();
  await contender.clear();
  return starts;
}

async function untilSettled(contender: Contender): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (await contender.hasUnsettled()) {
    if (performance.now() > deadline)
      throw new Error(`${contender.variant} has run all its tasks but does not settle them.`);
  }
}

async function within(promise: Promise<unknown>, problem: () => string): Promise<void> {
  const timer = new AbortController();
  const tooLate = sleep(LIMIT_MS, undefined, { signal: timer.signal }).then(
    () => {
      throw new Error(`${problem()} after ${LIMIT_MS / 1_000} s.`);
    },
    () => undefined,
  );
  await Promise.race([promise, tooLate]).finally(() => timer.abort());
}
