import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { openPool } from './open-pool.ts';
import type { Outage } from './outage.ts';
import { assertSchemaName } from './schema-name.ts';
import { startupOptions } from './session.ts';
import type { SilentConnection } from './silence.ts';
import type { Database } from '../schema/tables.ts';
import { separateParameters } from './tls.ts';

export interface DatabaseOptions {
  /**
   * The DSN, `postgresql://user:password@host/database`; its sslmode means what PostgreSQL
   * documents.
   */
  url: string;
  /** The environment's schema; everything is looked up there and nowhere else. */
  schema: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Longest run of one statement, in milliseconds; 0 for no limit. */
  statementTimeoutMs?: number;
  /** Longest wait for a lock, in milliseconds; 0 for no limit. */
  lockTimeoutMs?: number;
  /**
   * Longest rest of a transaction between two statements, in milliseconds: then what a process that
   * stands still has locked is free.
   */
  idleTransactionMs?: number;
  /** Longest wait for a free or new connection, in milliseconds. */
  connectTimeoutMs?: number;
  /** Told of connections that break or cannot be had; the pool replaces them by itself. */
  outage?: Outage;
  /** Told when connections are closed because PostgreSQL has gone silent on them. */
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
    oid === INT8 ? parseInt8 : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} from the database does not fit a JavaScript number`);
  return value;
}

/** How a connection of an environment is opened, and whom it tells when it breaks. */
export interface ConnectionConfig extends pg.ClientConfig {
  /**
   * Longest time for a new connection and its first statement, and for a free one of a pool, in
   * milliseconds.
   */
  readonly connectionTimeoutMillis: number;
  /** Longest run of one statement, in milliseconds; 0 for no limit. */
  readonly longestStatementMs: number;
  readonly outage?: Outage;
  readonly onCut?: (error: SilentConnection) => void;
}

/**
 * The system tries a connection that is silent for so long, ten times a second apart, and then
 * breaks it off.
 */
const KEEP_ALIVE_AFTER_MS = 5_000;

/** What every connection of an environment is opened with, pooled or not. */
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
      idle_in_transaction_session_timeout: `${options.idleTransactionMs ?? 60_000}`,
      // Our statements are short: compiling one costs more than running it, and the planner's guess
      // of the cost can be far off.
      jit: 'off',
      // Plans of prepared statements are kept, and the first ones are made while tables are empty
      // and reading all of them looks cheapest. Every statement of ours has an index to go by;
      // where there is none this changes nothing.
      enable_seqscan: 'off',
    })}`.trimStart(),
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    longestStatementMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    ...(options.outage === undefined ? {} : { outage: options.outage }),
    ...(options.onCut === undefined ? {} : { onCut: options.onCut }),
  };
}

/** Opens a pool on one environment. Nothing is connected before the first statement. */
export function connectDatabase(options: DatabaseOptions): DatabaseConnection {
  const { pool, watch } = openPool(clientConfig(options), options.poolSize);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, close: () => watch.close(() => db.destroy()) };
}
