import pg from 'pg';
import type { ConnectionConfig } from './connect.ts';
import { PreferringClient } from './prefer-tls.ts';

/** One connection beside the pool, for what must not wait behind other statements. It opens when it is first used, and again after a break. */
export interface OwnConnection {
  /** Runs one statement. Rejects after the time limit too; the connection is then thrown away, as it may be half-open. */
  query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<R[]>;
  /** Throws the connection away, because PostgreSQL seems to have gone from its other end. */
  renew(): void;
  close(): Promise<void>;
}

/** `config` comes from `clientConfig`; `queryTimeoutMs` is how long a statement may take altogether. */
export function ownConnection(config: ConnectionConfig, queryTimeoutMs: number): OwnConnection {
  let single = openSingle(config, queryTimeoutMs);
  return {
    query: async <R extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => {
      try {
        return (await single.pool.query<R>(text, [...values])).rows;
      } catch (error) {
        config.outage?.failed(error, config);
        throw error;
      }
    },
    renew() {
      void single.close();
      single = openSingle(config, queryTimeoutMs);
    },
    close: () => single.close(),
  };
}

/** A pool of one: it opens another connection after one that has failed. */
function openSingle(config: ConnectionConfig, queryTimeoutMs: number): { pool: pg.Pool; close(): Promise<void> } {
  const pool = new pg.Pool({
    ...config,
    Client: PreferringClient,
    max: 1,
    idleTimeoutMillis: 0,
    query_timeout: queryTimeoutMs,
    connectionTimeoutMillis: Math.min(config.connectionTimeoutMillis, queryTimeoutMs),
  });
  let current: pg.PoolClient | undefined;
  // A connection that breaks while idle has nothing to tell: the next statement opens another one, or fails and says why.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    current = client;
    // One that breaks in use fails its statement; without a listener it would end the process.
    client.on('error', () => undefined);
  });
  const close = () => {
    const ended = pool.end();
    current?.connection.stream.destroy();
    return ended;
  };
  return { pool, close };
}
