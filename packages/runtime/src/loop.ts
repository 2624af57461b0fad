import type { Wake } from './wake.ts';

export interface LoopOptions {
  /**
   * Rings when there may be work; the loop also looks by itself after `intervalMs`, which is asked
   * for after each step.
   */
  wake: Wake;
  intervalMs: number | (() => number);
  /** Told of every failed step; the next one is due after the interval, or at the next ring. */
  onError: (error: unknown) => void;
}

/**
 * Repeats one step until the signal aborts. A ring that comes during a step causes another one;
 * steps never overlap.
 */
export async function loop(
  once: (signal: AbortSignal) => Promise<unknown>,
  options: LoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const { wake, intervalMs, onError } = options;
  while (!signal.aborted) {
    try {
      await once(signal);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    await wake.wait(typeof intervalMs === 'number' ? intervalMs : intervalMs(), signal);
  }
}
