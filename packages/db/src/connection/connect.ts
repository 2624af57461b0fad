import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { prepareMarked } from './prepared.ts';
import { assertSchemaName } from './schema-name.ts';
import type { Database } from '../schema/tables.ts';
import { separateTls } from './tls.ts';

export interface DatabaseOptions {
  /** The DSN, `postgresql://user:password@host/database`; its sslmode means what PostgreSQL documents. */
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
  /** Longest rest of a transaction between two statements, in milliseconds: then what a process that stands still has locked is free. */
  idleTransactionMs?: number;
  /** Longest wait for a free or new connection, in milliseconds. */
  connectTimeoutMs?: number;
  /** Told when an idle pooled connection breaks; the pool replaces it by itself. */
  onIdleError?: (error: Error) => void;
}

export interface DatabaseConnection {
  readonly db: Kysely<Database>;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

const INT8: number = pg.types.builtins.INT8;

// bigint as a number: every id we hold is far below 2^53 (demand keys are cut to 53 bits), and one that is not must not be rounded in silence.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? parseInt8 : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} from the database does not fit a JavaScript number`);
  return value;
}

/** What every connection of an environment is opened with, pooled or not. */
export function clientConfig(options: Omit<DatabaseOptions, 'poolSize' | 'onIdleError'>): pg.ClientConfig {
  assertSchemaName(options.schema);
  const { dsn, ssl } = separateTls(options.url);
  return {
    connectionString: dsn,
    ssl,
    types,
    application_name: options.applicationName,
    options: [
      `-c search_path=${options.schema}`,
      `-c statement_timeout=${options.statementTimeoutMs ?? 30_000}`,
      `-c lock_timeout=${options.lockTimeoutMs ?? 10_000}`,
      `-c idle_in_transaction_session_timeout=${options.idleTransactionMs ?? 60_000}`,
      // Our statements are short: compiling one costs more than running it, and the planner's guess of the cost can be far off.
      `-c jit=off`,
      // Plans of prepared statements are kept, and the first ones are made while tables are empty and reading all of them looks cheapest.
      // Every statement of ours has an index to go by; where there is none this changes nothing.
      `-c enable_seqscan=off`,
    ].join(' '),
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    keepAlive: true,
  };
}

/**
 * A connection in reserve is kept this long. node-postgres' own 10 s are shorter than the pauses between deliveries at night, and a new
 * connection has to sign in and have all its statements parsed and planned before it answers.
 */
const KEEP_IDLE_MS = 300_000;

/** Opens a pool on one environment. Nothing is connected before the first statement. */
export function connectDatabase(options: DatabaseOptions): DatabaseConnection {
  const pool = new pg.Pool({ ...clientConfig(options), max: options.poolSize, idleTimeoutMillis: KEEP_IDLE_MS });
  pool.on('error', (error) => options.onIdleError?.(error));
  // A connection that breaks while it is in use fails its statement, which is how it is learnt of; without a listener it would end the process.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    prepareMarked(client);
  });
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, close: () => db.destroy() };
}
