import { setTimeout as sleep } from 'node:timers/promises';

/** A queue under measurement, in a separate schema, with no-op handlers. */
export interface Contender {
  readonly variant: 'paddock' | 'graphile';
  /** Resolves when this many new tasks are committed and due. */
  enqueue(count: number): Promise<void>;
  /**
   * Resolves when workers for this many simultaneous tasks are up and listen; `onStart` is called
   * at the beginning of every handler. The function that it resolves with ends the workers once
   * their tasks are settled.
   */
  start(slots: number, onStart: () => void): Promise<() => Promise<void>>;
  /** Whether a task is left that no statement has settled yet. */
  hasUnsettled(): Promise<boolean>;
  /** Removes all tasks and their history. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** How many tasks one statement enqueues, for all contenders. */
const ENQUEUE_BATCH = 1_000;

/** The sizes of the statements that enqueue `count` tasks. */
export const batchSizes = (count: number): number[] =>
  Array.from({ length: Math.ceil(count / ENQUEUE_BATCH) }, (_, nth) =>
    Math.min(ENQUEUE_BATCH, count - nth * ENQUEUE_BATCH),
  );

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
  await settled(contender, all.promise);
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
    const startedAt = await settled(contender, started.promise);
    if (i >= WARM_UPS) starts.push(startedAt - asked);
    await sleep(IDLE_MS);
  }
  await stop();
  await contender.clear();
  return starts;
}

/** Resolves once the tasks have started, and all are settled. */
async function settled<T>(contender: Contender, started: Promise<T>): Promise<T> {
  const late = sleep(LIMIT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`${contender.variant} has not settled all tasks in ${LIMIT_MS} ms.`);
  });
  late.catch(() => undefined); // too late to matter
  const untilSettled = async (): Promise<void> => {
    while (await contender.hasUnsettled());
  };
  const result = await Promise.race([started, late]);
  await Promise.race([untilSettled(), late]);
  return result;
}
