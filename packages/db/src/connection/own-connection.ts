import pg from 'pg';

/** One connection beside the pool, for what must not wait behind other statements. It opens when it is first used, and again after a break. */
export interface OwnConnection {
  /** Runs one statement. Rejects after the time limit too; the connection is then thrown away, as it may be half-open. */
  query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<R[]>;
  close(): Promise<void>;
}

/** `config` comes from `clientConfig`; `queryTimeoutMs` is how long a statement may take altogether. */
export function ownConnection(config: pg.ClientConfig, queryTimeoutMs: number): OwnConnection {
  const pool = new pg.Pool({
    ...config,
    max: 1,
    idleTimeoutMillis: 0,
    query_timeout: queryTimeoutMs,
    connectionTimeoutMillis: Math.min(config.connectionTimeoutMillis ?? queryTimeoutMs, queryTimeoutMs),
  });
  // A connection that breaks while idle has nothing to tell: the next statement opens another one, or fails and says why.
  pool.on('error', () => undefined);
  // One that breaks in use fails its statement; without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    query: async <R extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => {
      const { rows } = await pool.query<R>(text, [...values]);
      return rows;
    },
    close: () => pool.end(),
  };
}
