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
