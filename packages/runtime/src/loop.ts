import type { Wake } from './wake.ts';

export interface LoopOptions {
  /**
   * Rings when there may be work. Without a ring the loop steps after `intervalMs`, which it reads
   * after each step.
   */
  wake: Wake;
  intervalMs: number | (() => number);
  /**
   * Called with the error of every failed step. The next step comes after the interval, or at the
   * next ring.
   */
  onError: (error: unknown) => void;
}

/**
 * Repeats one step until the signal aborts. A ring during a step causes another step; steps never
 * overlap.
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
