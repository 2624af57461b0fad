import pg from 'pg';
import { Client, type ClientOptions, SilentConnection } from './client.ts';
import type { ConnectionConfig } from './connect.ts';

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

/**
 * The settings of each session, over those of role and database. Our statements are written for
 * read committed, and node-postgres reads only these forms of dates, intervals and numbers. Every
 * proper role may set them.
 */
const PINNED = {
  default_transaction_isolation: 'read committed',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
} as const;

/** Settings as the start-up option that PostgreSQL reads them from. */
export const startupOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries({ ...settings, ...PINNED })
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, String.raw`\$&`)}`)
    .join(' ');

/**
 * Settings that start-up options cannot set. A commit that does not wait for the disk would make
 * our answers a lie, so `off` is replaced; one that waits for a standby stays. Newer versions'
 * limits would end sessions that are rightly long or idle; our other settings limit both. Only a
 * superuser may set triggers not to fire.
 */
const BEGIN_SESSION = `
  select case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end,
    case when current_setting('transaction_timeout', true) <> '0' then set_config('transaction_timeout', '0', false) end,
    case when current_setting('idle_session_timeout', true) <> '0' then set_config('idle_session_timeout', '0', false) end,
    current_setting('session_replication_role') = 'replica' as "isReplica",
    array(select name || ' = ' || current_setting(name)
          from (values ${Object.entries(PINNED)
            .map(([name, value]) => `('${name}', '${value}')`)
            .join(', ')}) pinned (name, value)
          where current_setting(name) <> value) as differing`;

interface Row {
  readonly isReplica: boolean;
  readonly differing: readonly string[];
}

/**
 * Runs the first statement of a session. Rejects, and says what to do, if the session lacks the
 * settings that our statements need.
 */
async function beginSession(client: pg.ClientBase, limitMs: number): Promise<void> {
  // The types do not know that a statement may have a limit of its own.
  const statement: pg.QueryConfig & { query_timeout: number } = {
    text: BEGIN_SESSION,
    query_timeout: limitMs,
  };
  const [row] = (await client.query<Row & pg.QueryResultRow>(statement)).rows;
  if (row === undefined)
    throw new Error('PostgreSQL answered the first statement of a session without a row.');
  if (row.differing.length > 0) {
    throw new Error(
      `PostgreSQL has not taken our start-up options (${row.differing.join(', ')}): a proxy on the way drops them; connect to PostgreSQL itself, or let the proxy pass them on`,
    );
  }
  if (row.isReplica) {
    throw new Error(
      'session_replication_role is replica, so that our triggers do not fire: reset it for the role and the database (alter role … reset session_replication_role)',
    );
  }
}
