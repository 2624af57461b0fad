import { setTimeout as pause } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/**
 * A limit for an effect that never comes: a machine with several suites is very slow. Mutants have
 * a shorter one.
 */
export const PATIENCE_MS = Number(process.env['PADDOCK_TEST_PATIENCE_MS'] ?? 120_000);

/**
 * Polls `probe` and resolves with its first value that is neither undefined nor false.
 *
 * This is the one place where a test waits. If the probe throws, it rejects with that error; after
 * the limit the error names `what`.
 */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = PATIENCE_MS }: { readonly timeoutMs?: number } = {},
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    const waitedMs = performance.now() - began;
    if (waitedMs >= timeoutMs) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    // A twentieth of the time waited so far: a probe is often a query or a request, and all test
    // files share the processors.
    await pause(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs / 20)));
  }
}
