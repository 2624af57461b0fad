import type pg from 'pg';

/**
 * Closes every connection of a pool that is in use for longer than `ms` at a time, a transaction being one use. The server's own timeouts
 * end what is slow; this ends what does not answer at all, such as a host that is gone: the statement fails, and the pool opens another
 * connection for the next one instead of waiting for a quarter of an hour until the system gives up.
 */
export function limitHolding(pool: pg.Pool, ms: number, onCut: (afterMs: number) => void): void {
  const timers = new Map<pg.PoolClient, NodeJS.Timeout>();
  const cut = (client: pg.PoolClient) => {
    onCut(ms);
    // With a query under way, end() does not wait for the server but closes the socket; that it fails on one that is dead was just told.
    (client as unknown as pg.Client).end().catch(() => undefined);
  };
  pool.on('acquire', (client) => timers.set(client, setTimeout(cut, ms, client)));
  pool.on('release', (_error, client) => {
    clearTimeout(timers.get(client));
    timers.delete(client);
  });
}
