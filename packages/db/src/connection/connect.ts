import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { SilentConnection } from './client.ts';
import { BEYOND_LONGEST_MS, openPool, startupOptions } from './open-pool.ts';
import type { Outage } from './outage.ts';
import { assertSchemaName } from './schema-name.ts';
import type { Database } from '../schema/tables.ts';
import { separateParameters } from './database-url.ts';

export interface DatabaseOptions {
  /**
   * The DSN, `postgresql://user:password@host/database`; its sslmode has the meaning that
   * PostgreSQL documents.
   */
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
  readonly db: Kysely<Database>;
  readonly pool: pg.Pool;
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
  extends pg.ClientConfig, Pick<DatabaseOptions, 'longestUseMs' | 'outage' | 'onCut'> {
  /**
   * Longest time for a new connection and its first statement, and for a free one of a pool, in
   * milliseconds.
   */
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
  const { dsn, ssl, options: further } = separateParameters(options.url);
  const longestStatementMs = options.statementTimeoutMs ?? 30_000;
  return {
    connectionString: dsn,
    ssl,
    types,
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
      // empty, when a sequential scan looks cheapest. Every statement has an index; without one,
      // this changes nothing.
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
  return { db, pool, close: () => db.destroy() };
}
