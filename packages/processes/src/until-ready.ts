import { setTimeout as sleep } from 'node:timers/promises';

/** For a service that never becomes ready; a machine may be slow. */
const LIMIT_MS = 120_000;

/**
 * Waits until the health page at this port stops saying that the service is not ready. A service
 * without such a page counts as ready.
 */
export const untilReady = (port: number | undefined): Promise<void> =>
  untilReadiness(port, 'ready');

export async function untilReadiness(
  port: number | undefined,
  wanted: 'ready' | 'unready',
): Promise<void> {
  if (port === undefined) throw new Error('A service did not say where it listens.');
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const { isUnready, said } = await askReadiness(port);
    if (isUnready === (wanted === 'unready')) return;
    if (performance.now() > deadline)
      throw new Error(`The service on port ${port} has not become ${wanted}: ${said}`);
    await sleep(50);
  }
}

/** A service that does not answer, as on a busy machine, is neither. */
const askReadiness = (port: number): Promise<{ isUnready?: boolean; said: string }> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (answer) => ({ isUnready: answer.status === 503, said: await answer.text() }),
    (error: unknown) => ({ said: String(error) }),
  );
