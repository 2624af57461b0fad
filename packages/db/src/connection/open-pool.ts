import pg from 'pg';
import type { ConnectionConfig } from './connect.ts';
import { PreferringClient } from './prefer-tls.ts';
import { prepareMarked } from './prepared.ts';
import { beginSession } from './session.ts';
import { cutSilent, DroppedConnection, type SilenceWatch } from './silence.ts';

export interface OpenPool {
  readonly pool: pg.Pool;
  readonly watch: SilenceWatch;
}

/**
 * How long an idle connection is kept. node-postgres' default of 10 s is shorter than the pauses
 * between deliveries at night. A new connection has to sign in, and to parse and plan all its
 * statements.
 */
const KEEP_IDLE_MS = 300_000;

/**
 * Opens a pool whose sessions have the settings that our statements need. It closes connections on
 * which PostgreSQL has gone silent.
 */
export function openPool(config: ConnectionConfig, max: number): OpenPool {
  const sessions = new WeakMap<pg.ClientBase, string>();
  const failed = (error: unknown) => {
    if (!(error instanceof DroppedConnection)) config.outage?.failed(error, config);
  };
  const begin = async (client: pg.ClientBase): Promise<void> => {
    client.on('error', failed);
    sessions.set(client, await beginSession(client, config.connectionTimeoutMillis));
  };
  const pool = new pg.Pool({
    ...config,
    Client: PreferringClient,
    max,
    idleTimeoutMillis: KEEP_IDLE_MS,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: begin,
  });
  // An idle connection that breaks is replaced by the pool.
  pool.on('error', failed);
  pool.on('connect', (client) => {
    prepareMarked(client);
    tellFailures(client, failed);
  });
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  // Kysely is the only caller of `connect`, and wants a promise.
  pool.connect = (async () => {
    try {
      return await connect();
    } catch (error) {
      // A full pool says nothing about PostgreSQL.
      if (pool.totalCount < max) failed(error);
      throw error;
    }
  }) as typeof pool.connect;
  const watch = cutSilent({
    pool,
    config,
    sessionOf: (client) => sessions.get(client) ?? '',
    onCut: (error) => config.onCut?.(error),
  });
  config.outage?.onFailure(watch.dropIdle);
  return { pool, watch };
}

/** A statement fails with its own error when its connection breaks. */
function tellFailures(client: pg.ClientBase, failed: (error: unknown) => void): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const telling = (...given: unknown[]) => {
    const answer = query(...given);
    if (answer instanceof Promise) answer.catch(failed);
    return answer;
  };
  client.query = telling as typeof client.query;
}
