import type pg from 'pg';

/**
 * Closes every connection that is in use for longer than `ms` at a time; a transaction is one use.
 * For work that a caller waits for: the watch for silent hosts takes longer.
 */
export function limitHolding(pool: pg.Pool, ms: number, onCut: () => void): void {
  const timers = new Map<pg.PoolClient, NodeJS.Timeout>();
  const cut = (client: pg.PoolClient) => {
    onCut();
    // With a query under way, end() closes the socket at once. Its failure on a dead socket was
    // reported above.
    client.end().catch(() => undefined);
  };
  pool.on('acquire', (client) => timers.set(client, setTimeout(cut, ms, client)));
  pool.on('release', (_error, client) => {
    clearTimeout(timers.get(client));
    timers.delete(client);
  });
}
