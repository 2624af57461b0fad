export interface LoopOptions {
  /**
   * Rings when there may be work. Without a ring the loop steps after `intervalMs`, which it reads
   * after each step.
   */
  wake?: Wake;
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
  const { wake = createWake(), intervalMs, onError } = options;
  while (!signal.aborted) {
    try {
      await once(signal);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    await wake.wait(typeof intervalMs === 'number' ? intervalMs : intervalMs(), signal);
  }
}

/**
 * A doorbell for one waiter. A ring that comes while no one waits is remembered until the next
 * wait.
 */
export interface Wake {
  ring(): void;
  /**
   * Resolves when the bell rings (or has rung since the last wait), after `ms`, or when the signal
   * aborts.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWake(): Wake {
  let rung = false;
  let answer: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      answer?.();
    },
    async wait(ms, signal) {
      if (!rung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        const onAbort = () => resolve();
        signal.addEventListener('abort', onAbort, { once: true });
        answer = resolve;
        await promise;
        answer = undefined;
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
      rung = false;
    },
  };
}
