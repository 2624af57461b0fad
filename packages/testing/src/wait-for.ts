import { setTimeout as pause } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;

/**
 * A net for what never comes: a machine on which several suites run is slower by far than anybody
 * expects. Mutants are given up sooner.
 */
const PATIENCE_MS = Number(process.env['PADDOCK_TEST_PATIENCE_MS'] ?? 120_000);

/**
 * Asks until there is an answer: resolves with the first value of `probe` that is neither undefined
 * nor false.
 *
 * This is the one place where a test waits. A probe that throws ends the waiting with its error;
 * when the time is over, the error names `what` was waited for.
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
    // A twentieth of what has been waited: a probe is often a query or a request, and all test
    // files share the processors.
    await pause(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs / 20)));
  }
}
