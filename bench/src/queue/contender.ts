export const VARIANTS = ['paddock', 'graphile-default', 'graphile-tuned', 'pg-boss'] as const;
export type Variant = (typeof VARIANTS)[number];

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
