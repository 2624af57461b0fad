import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** How long the server may take to close a connection that we have closed. */
export const CLOSE_LIMIT_MS = 1_000;

/** Closes a connection; destroys its socket if the server does not answer. Never rejects. */
export async function endClient(client: pg.Client): Promise<void> {
  // A connection that breaks while it is closed is closed.
  const ended = client.end().catch(() => undefined);
  const isEnded = await Promise.race([
    ended.then(() => true),
    sleep(CLOSE_LIMIT_MS, false, { ref: false }),
  ]);
  if (!isEnded) client.connection.stream.destroy();
}
