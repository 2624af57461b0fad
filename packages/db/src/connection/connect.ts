import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Database, Db } from '../schema/tables.ts';
import { Client, type ClientOptions, SilentConnection } from './client.ts';
import { separateParameters } from './database-url.ts';
import { codeOf, isRefusal, isShortage, sqlStateOf } from './errors.ts';
import type { Outage } from './database-outage.ts';
import { assertSchemaName } from './schema-name.ts';

export interface DatabaseOptions {
  /** `postgresql://user:password@host/database`; sslmode as PostgreSQL documents it. */
  url: string;
  /** The environment's schema, the only one in the search path. */
  schema: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /**
   * For the lists that people ask for: a page is read in the order of an index. PostgreSQL
   * underestimates how many rows fit, and would collect and sort them all.
   */
  forLists?: boolean;
  /** Longest run of one statement, in milliseconds; 0 for no limit. */
  statementTimeoutMs?: number;
  /** Longest wait for a lock, in milliseconds; 0 for no limit. */
  lockTimeoutMs?: number;
  /**
   * Longest rest of a transaction between two statements, in milliseconds: frees the locks of a
   * process that hangs, or that PostgreSQL has lost. Below the longest wait for a lock, so that who
   * waits for them gets them.
   */
  idleTransactionMs?: number;
  /**
   * Longest use of a connection at a time, in milliseconds; a transaction is one use. For work that
   * a caller waits for: the limit of one answer is longer.
   */
  longestUseMs?: number;
  /** Longest wait for a free or new connection, in milliseconds. */
  connectTimeoutMs?: number;
  /** Receives connections that break or cannot be opened; the pool replaces them by itself. */
  outage?: Outage;
  /** Called for each connection that is closed because PostgreSQL has gone silent on it. */
  onCut?: (error: SilentConnection) => void;
}

export interface DatabaseConnection {
  readonly db: Db;
  readonly pool: pg.Pool;
  /** For connections that are not pooled. */
  readonly config: ConnectionConfig;
  close(): Promise<void>;
}

const INT8: number = pg.types.builtins.INT8;

// bigint as a number: every id we hold is far below 2^53 (demand keys are cut to 53 bits), and one
// that is not must not be rounded in silence.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8
      ? parseInt8
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`the bigint ${text} from the database does not fit a JavaScript number`);
  return value;
}

/** The options of a connection of an environment, and the function to call when it breaks. */
export interface ConnectionConfig
  extends Omit<ClientOptions, 'onCut'>, Pick<DatabaseOptions, 'longestUseMs' | 'outage' | 'onCut'> {
  /** Longest wait for a free connection, or a new one with its first statement, in milliseconds. */
  readonly connectionTimeoutMillis: number;
  /**
   * Longest wait for an answer, in milliseconds: for the longest statement and a little more. Absent
   * where a statement may last for ever, as in a migration: then the system's keep-alive has to find
   * a dead host.
   */
  readonly answerLimitMs?: number;
}

/**
 * The system probes a connection after this silence, ten times, a second apart. Then it closes it.
 */
const KEEP_ALIVE_AFTER_MS = 5_000;

/** The sums of a month are sorted in memory. */
const FOR_LISTS = { enable_bitmapscan: 'off', work_mem: '16MB' };

/** The configuration of every connection of an environment, pooled or not. */
export function clientConfig(options: Omit<DatabaseOptions, 'poolSize'>): ConnectionConfig {
  assertSchemaName(options.schema);
  const { dsn, ssl, options: further, ...file } = separateParameters(options.url);
  const longestStatementMs = options.statementTimeoutMs ?? 30_000;
  return {
    connectionString: dsn,
    ssl,
    types,
    ...file,
    application_name: options.applicationName,
    options: `${further} ${startupOptions({
      search_path: options.schema,
      statement_timeout: `${longestStatementMs}`,
      lock_timeout: `${options.lockTimeoutMs ?? 10_000}`,
      idle_in_transaction_session_timeout: `${options.idleTransactionMs ?? 8_000}`,
      // Our statements are short: compiling one costs more than running it, and the planner's guess
      // of the cost can be far off.
      jit: 'off',
      // Connections keep the plans of prepared statements. The first are made while tables are
      // empty, when a sequential scan looks cheapest. Every large table has an index. A small one needs
      // it, too, if it is read for each row: up to version 17 the price of a disabled scan hides all
      // others, and any order of the joins seems as good.
      enable_seqscan: 'off',
      ...(options.forLists === true && FOR_LISTS),
    })}`.trimStart(),
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    ...(longestStatementMs > 0 && { answerLimitMs: longestStatementMs + BEYOND_LONGEST_MS }),
    ...(options.longestUseMs === undefined ? {} : { longestUseMs: options.longestUseMs }),
    ...(options.outage === undefined ? {} : { outage: options.outage }),
    ...(options.onCut === undefined ? {} : { onCut: options.onCut }),
  };
}

/** Opens a pool on one environment. Nothing is connected before the first statement. */
export const connectDatabase = (options: DatabaseOptions): DatabaseConnection =>
  openDatabase(clientConfig(options), options.poolSize);

/** The same, with a configuration of `clientConfig` and a size. */
export function openDatabase(config: ConnectionConfig, poolSize: number): DatabaseConnection {
  const pool = openPool(config, poolSize);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, config, close: () => db.destroy() };
}

/**
 * How long an idle connection is kept. node-postgres' default of 10 s is shorter than the pauses
 * between deliveries at night. A new connection has to sign in, and to parse and plan all its
 * statements.
 */
const KEEP_IDLE_MS = 300_000;

/** How much longer PostgreSQL may be silent than the longest statement lasts. */
const BEYOND_LONGEST_MS = 5_000;

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
function openPool(config: ConnectionConfig, max: number): pg.Pool {
  const { outage, longestUseMs } = config;
  const idle = new Set<Client>();
  const used = new Map<Client, NodeJS.Timeout | undefined>();
  /**
   * Sessions without writes: at a standby that a failover left at the address, at a server that others
   * have left, or with a default that changes. They may stay so although PostgreSQL takes writes by now.
   */
  const readOnly = new WeakSet<pg.ClientBase>();
  const failed = (error: unknown) => {
    if (!(error instanceof SilentConnection) || error.isNews) outage?.failed(error, config);
  };
  const begin = async (client: pg.ClientBase): Promise<void> => {
    client.on('error', failed);
    const { isReadOnly } = await beginSession(client, config.connectionTimeoutMillis);
    if (isReadOnly) readOnly.add(client);
  };
  const onFailure = (error: unknown, client: Client): void => {
    if (sqlStateOf(error) === '25006') readOnly.add(client);
    failed(error);
  };
  const options: ClientOptions = { ...config, onFailure };
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
    if (readOnly.has(client)) void client.end();
  });
  pool.on('remove', (removed) => void idle.delete(ofOurClass(removed)));
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  /** Why no connection can be added now. */
  let shortage: unknown;
  let shortageEnds: NodeJS.Timeout | undefined;
  /** Those that are being opened do not count: they may be refused, too. */
  const hasSession = () => idle.size + used.size > 0;
  const askAgain = async (): Promise<void> => {
    shortage = undefined;
    pool.options.max = max;
    try {
      // A pool serves its waiting callers when a session is released or refused.
      (await connect()).release();
    } catch {
      // Each waiting caller gets its own answer.
    }
  };
  /** Until the shortage may be over, the pool counts as full: who connects waits for an open one. */
  const makeDo = async (error: unknown): Promise<void> => {
    shortage = error;
    pool.options.max = Math.max(1, pool.totalCount);
    clearTimeout(shortageEnds);
    shortageEnds = setTimeout(() => void askAgain(), SHORTAGE_MS).unref();
    if (hasSession()) return;
    outage?.shortage();
    await sleep(SHORTAGE_RETRY_MS);
  };
  // Kysely is the only caller of `connect`, and wants a promise.
  pool.connect = (async () => {
    const giveUpAt = performance.now() + config.connectionTimeoutMillis;
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (isShortage(error) || (isRefusal(error) && hasSession())) {
          await makeDo(error);
          if (performance.now() < giveUpAt) continue;
          throw error;
        }
        // It waited in vain for one that is open: the pool's own errors have no code.
        if (shortage !== undefined && codeOf(error) === undefined) throw shortage;
        // That a full pool gave none up in time says nothing about PostgreSQL. A refusal does, though
        // others of the pool are being opened still.
        if (codeOf(error) !== undefined || pool.totalCount < max) failed(error);
        throw error;
      }
    }
  }) as typeof pool.connect;
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
const startupOptions = (settings: Readonly<Record<string, string>>): string =>
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
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    array(select name || ' = ' || current_setting(name)
          from (values ${Object.entries(PINNED)
            .map(([name, value]) => `('${name}', '${value}')`)
            .join(', ')}) pinned (name, value)
          where current_setting(name) <> value) as differing`;

interface Row {
  readonly isReplica: boolean;
  readonly isReadOnly: boolean;
  readonly differing: readonly string[];
}

/**
 * Runs the first statement of a session. Rejects, and says what to do, if the session lacks the
 * settings that our statements need.
 */
async function beginSession(client: pg.ClientBase, limitMs: number): Promise<Row> {
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
  return row;
}
