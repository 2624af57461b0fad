import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or at once when the signal aborts. Never rejects for an abort. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** Takes a step, and again so long after the end of each, until the signal aborts. */
export const every =
  (ms: number, step: (signal: AbortSignal) => unknown) =>
  async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await step(signal);
      await pause(ms, signal);
    }
  };
