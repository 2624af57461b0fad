import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Database, Db } from '../schema/tables.ts';
import { separateParameters } from './database-url.ts';
import { type ConnectionConfig, openPool } from './pool.ts';
import { assertSchemaName } from './schema-name.ts';
import { startupOptions } from './session.ts';

export interface DatabaseOptions extends Pick<
  ConnectionConfig,
  'longestUseMs' | 'outage' | 'onCut'
> {
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
  /** Longest wait for a free or new connection, in milliseconds. */
  connectTimeoutMs?: number;
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

/**
 * The system probes a connection after this silence, ten times, a second apart. Then it closes it.
 */
const KEEP_ALIVE_AFTER_MS = 5_000;

/** How much longer PostgreSQL may be silent than the longest statement lasts. */
const BEYOND_LONGEST_MS = 5_000;

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
    // Where a statement may last for ever, as in a migration, keep-alive has to find a dead host.
    answerLimitMs: longestStatementMs > 0 ? longestStatementMs + BEYOND_LONGEST_MS : undefined,
    longestUseMs: options.longestUseMs,
    outage: options.outage,
    onCut: options.onCut,
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
