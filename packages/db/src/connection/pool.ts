import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Client, type ClientOptions, SilentConnection } from './client.ts';
import type { Outage } from './database-outage.ts';
import { codeOf, isRefusal, isShortage } from './errors.ts';
import { beginSession } from './session.ts';

/** How to open the connections of an environment, pooled or not. */
export interface ConnectionConfig extends Omit<ClientOptions, 'onFailure'> {
  /** Longest wait for a free connection, or a new one with its first statement, in milliseconds. */
  readonly connectionTimeoutMillis: number;
  /**
   * Longest use of a connection at a time, in milliseconds; a transaction is one use. For work that
   * a caller waits for: the limit of one answer is longer.
   */
  readonly longestUseMs?: number | undefined;
  /** Receives connections that break or cannot be opened; the pool replaces them by itself. */
  readonly outage?: Outage | undefined;
}

/**
 * How long an idle connection is kept. node-postgres' default of 10 s is shorter than the pauses
 * between deliveries at night. A new connection has to sign in, and to parse and plan all its
 * statements.
 */
const KEEP_IDLE_MS = 300_000;

/**
 * How long a statement that was sent before an outage may still take after it. A listener needs up
 * to 4 s to notice the outage; together that stays below 10 s.
 */
const AFTER_OUTAGE_MS = 3_000;

/** How long a pool that was refused a connection goes without asking for another one. */
const SHORTAGE_MS = 1_000;

/** How soon a pool that has none asks again: another pool may have given one up. */
const SHORTAGE_RETRY_MS = 100;

/** Opens a pool whose sessions have the settings that our statements need. */
export function openPool(config: ConnectionConfig, max: number): pg.Pool {
  const { outage, longestUseMs, connectionTimeoutMillis } = config;
  const idle = new Set<Client>();
  const used = new Map<Client, NodeJS.Timeout | undefined>();
  const failed = (error: unknown) => {
    if (!(error instanceof SilentConnection) || error.isNews) outage?.failed(error, config);
  };
  const begin = async (connected: pg.ClientBase): Promise<void> => {
    connected.on('error', failed);
    await beginSession(ofOurClass(connected), connectionTimeoutMillis);
  };
  const options: ClientOptions = { ...config, onFailure: failed };
  const pool = new pg.Pool({
    ...options,
    Client,
    max,
    idleTimeoutMillis: KEEP_IDLE_MS,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: begin,
  });
  // An idle connection that breaks is replaced by the pool.
  pool.on('error', failed);
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
    // Then the pool opens another in its place.
    if (client.isReadOnly) void client.end();
  });
  pool.on('remove', (removed) => void idle.delete(ofOurClass(removed)));
  // Those that are being opened do not count: they may be refused, too.
  shareWhileRefused(pool, config, { hasSession: () => idle.size + used.size > 0, failed });

  /** So the pool forgets it at once, not only at the end of the socket. */
  const forget = (client: Client, why: string): void => {
    idle.delete(client);
    client.emit('error', new SilentConnection(why, false));
  };
  outage?.onShortage(() => {
    const [client] = idle;
    if (client !== undefined) forget(client, 'given up for another pool');
    return client !== undefined;
  });
  // The pool would hand out the idle ones next, though their server is probably gone too.
  outage?.onFailure(() => {
    for (const client of idle) {
      forget(client, 'closed while idle');
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
const ofOurClass = (client: pg.ClientBase): Client => client as unknown as Client;

interface Sessions {
  /** Whether a session of the pool is open. */
  readonly hasSession: () => boolean;
  readonly failed: (error: unknown) => void;
}

/**
 * While a pool is refused further connections, its callers share those that are open: the pool counts
 * as full. If none is open, other pools are asked for one, and callers try again until they give up.
 */
function shareWhileRefused(
  pool: pg.Pool,
  { outage, connectionTimeoutMillis }: ConnectionConfig,
  { hasSession, failed }: Sessions,
): void {
  const { max } = pool.options;
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  let refused: { readonly error: unknown; readonly at: number } | undefined;
  let rest: NodeJS.Timeout | undefined;

  const askAgain = async (): Promise<void> => {
    pool.options.max = max;
    try {
      // A pool serves its waiting callers when a session is released or refused.
      (await connect()).release();
    } catch {
      // Each waiting caller gets its own answer.
    }
  };
  const makeDo = async (error: unknown): Promise<void> => {
    refused = { error, at: performance.now() };
    pool.options.max = Math.max(1, pool.totalCount);
    clearTimeout(rest);
    rest = setTimeout(() => void askAgain(), SHORTAGE_MS).unref();
    if (hasSession()) return;
    outage?.shortage();
    await sleep(SHORTAGE_RETRY_MS);
  };
  // Kysely is the only caller of `connect`, and wants a promise.
  pool.connect = (async () => {
    const beganAt = performance.now();
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (isShortage(error) || (isRefusal(error) && hasSession())) {
          await makeDo(error);
          if (performance.now() < beganAt + connectionTimeoutMillis) continue;
          throw error;
        }
        // The pool's own errors have no code: it waited in vain for a connection that is open.
        const isOfPool = codeOf(error) === undefined;
        if (isOfPool && refused !== undefined && refused.at > beganAt) throw refused.error;
        // That a full pool gave none up in time says nothing about PostgreSQL. A refusal does, though
        // others of the pool are being opened still.
        if (!isOfPool || pool.totalCount < max) failed(error);
        throw error;
      }
    }
  }) as typeof pool.connect;
}
