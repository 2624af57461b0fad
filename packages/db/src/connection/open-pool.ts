import pg from 'pg';
import { Client, SilentConnection } from './client.ts';
import type { ConnectionConfig } from './connect.ts';
import { prepareMarked } from './prepared.ts';
import { beginSession } from './session.ts';

/**
 * How long an idle connection is kept. node-postgres' default of 10 s is shorter than the pauses
 * between deliveries at night. A new connection has to sign in, and to parse and plan all its
 * statements.
 */
const KEEP_IDLE_MS = 300_000;

/** How much longer PostgreSQL may be silent than the longest statement lasts. */
export const BEYOND_LONGEST_MS = 5_000;

/**
 * How long a statement that was sent before an outage may still take after it. A listener needs up
 * to 4 s to notice the outage; together that stays below 10 s.
 */
const AFTER_OUTAGE_MS = 3_000;

/** Opens a pool whose sessions have the settings that our statements need. */
export function openPool(config: ConnectionConfig, max: number): pg.Pool {
  const { outage, longestUseMs } = config;
  const idle = new Set<Client>();
  const used = new Map<Client, NodeJS.Timeout | undefined>();
  const failed = (error: unknown) => {
    if (!(error instanceof SilentConnection) || error.isNews) outage?.failed(error, config);
  };
  const begin = async (client: pg.ClientBase): Promise<void> => {
    client.on('error', failed);
    await beginSession(client, config.connectionTimeoutMillis);
  };
  const pool = new pg.Pool({
    ...config,
    Client,
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
  pool.on('acquire', (acquired) => {
    const client = ofOurClass(acquired);
    idle.delete(client);
    const cut = () => client.cut(`A connection was in use for more than ${longestUseMs} ms`);
    used.set(client, longestUseMs === undefined ? undefined : setTimeout(cut, longestUseMs));
  });
  pool.on('release', (_error, released) => {
    const client = ofOurClass(released);
    clearTimeout(used.get(client));
    used.delete(client);
    idle.add(client);
  });
  pool.on('remove', (removed) => void idle.delete(ofOurClass(removed)));
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
  // The pool would hand out the idle ones next, though their server is probably gone too.
  outage?.onFailure(() => {
    for (const client of idle) {
      idle.delete(client);
      // So the pool forgets it at once, not only at the end of the socket.
      client.emit('error', new SilentConnection('closed while idle', false));
      client.connection.stream.destroy();
    }
  });
  // PostgreSQL answers others. What was sent before an outage, to a server that is gone, gets no
  // answer; waiting for the longest statement would take too long.
  outage?.onAnswer(() => {
    for (const client of used.keys()) client.expectAnswers(AFTER_OUTAGE_MS);
  });
  return pool;
}

/** The pool's types do not know which class it makes. */
const ofOurClass = (client: pg.PoolClient): Client => client as unknown as Client;

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
