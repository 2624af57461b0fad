import { pause } from '@paddock/runtime/pause';
import { sql } from 'kysely';
import { Client } from './client.ts';
import type { ConnectionConfig } from './connect.ts';
import { sqlStateOf } from './errors.ts';
import { whyUnfit } from '../schema-version.ts';
import type { Db } from '../schema/tables.ts';

export interface FitnessOptions {
  readonly db: Db;
  readonly schema: string;
  /** How to open connections that test the way to PostgreSQL. */
  readonly config: ConnectionConfig;
  /** Longest time for PostgreSQL to answer, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Returns why the service cannot work now, as a sentence; undefined: it can. Never throws. */
export type WhyNotReady = () => Promise<string | undefined>;

/** Shorter than a kubelet's limit for a probe and than a person waits at a terminal. */
const TIMEOUT_MS = 3_000;

/**
 * Checks whether PostgreSQL answers, takes writes and has a schema that is new enough. Once, at its
 * first answer, checks that no proxy takes our sessions apart. Callers at the same time share one
 * question.
 */
export function createFitness({
  db,
  schema,
  config,
  timeoutMs = TIMEOUT_MS,
}: FitnessOptions): WhyNotReady {
  let hasSessions = false;
  let asked: Promise<string | undefined> | undefined;

  async function ask(): Promise<string | undefined> {
    try {
      if (!hasSessions) {
        const pooled = await whyPooled(config, schema);
        if (pooled !== undefined) return pooled;
        hasSessions = true;
      }
      return (
        (await whyUnfit(db, schema)) ??
        ((await isReadOnly(db))
          ? 'PostgreSQL takes no writes: it is a standby, or set to read-only'
          : undefined)
      );
    } catch (error) {
      return `PostgreSQL cannot be asked: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  return async () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    const answered = new AbortController();
    const silence = pause(timeoutMs, answered.signal).then(
      () => `PostgreSQL cannot be asked: it has not answered for ${timeoutMs} ms`,
    );
    const reason = await Promise.race([asked, silence]);
    answered.abort();
    return reason;
  };
}

const ADVICE =
  'Paddock needs whole sessions (LISTEN, search_path, prepared statements): connect to PostgreSQL itself, or through a proxy in session mode that passes start-up options on';

/**
 * Returns why a proxy between us and PostgreSQL takes away the sessions that our connections need;
 * undefined: none does. Two open connections have two backends, unless a proxy shares them between
 * transactions or statements. Throws all other errors of connecting.
 */
export async function whyPooled(
  config: ConnectionConfig,
  schema: string,
): Promise<string | undefined> {
  const limit = config.connectionTimeoutMillis;
  const clients = [1, 2].map(() => new Client({ ...config, query_timeout: limit }));
  // A broken connection fails its statement, which reports it.
  for (const client of clients) client.on('error', () => undefined);
  try {
    const sessions = [];
    for (const client of clients) {
      await client.connect();
      const { rows } = await client.query<{ pid: number; path: string }>(SESSION);
      sessions.push(...rows);
    }
    if (sessions.some(({ path }) => path !== schema))
      return `a proxy before PostgreSQL drops the start-up options of our connections. ${ADVICE}`;
    if (new Set(sessions.map(({ pid }) => pid)).size < clients.length)
      return `a transaction-pooling proxy stands before PostgreSQL. ${ADVICE}`;
    return undefined;
  } catch (error) {
    // Protocol violation, in answer to the start-up message: PgBouncer in any mode, unless it is
    // configured to ignore our options.
    if (sqlStateOf(error) === '08P01')
      return `a proxy before PostgreSQL refuses the start-up options of our connections. ${ADVICE}`;
    throw error;
  } finally {
    // Not awaited: a silent host never confirms it.
    for (const client of clients) void client.end();
  }
}

const SESSION = `select pg_backend_pid() as pid, current_setting('search_path') as path`;

async function isReadOnly(db: Db): Promise<boolean> {
  const { rows } = await sql<{
    setting: string;
  }>`select current_setting('transaction_read_only') as setting`.execute(db);
  return rows[0]?.setting === 'on';
}

export interface WaitOptions {
  readonly whyNotReady: WhyNotReady;
  readonly pollMs: number;
  /** Called once for each new reason. */
  readonly onUnfit: (reason: string) => void;
}

/**
 * Resolves when the service can work or the signal aborts: a service may start before PostgreSQL.
 */
export async function waitUntilFit(
  { whyNotReady, pollMs, onUnfit }: WaitOptions,
  signal: AbortSignal,
): Promise<void> {
  let told: string | undefined;
  while (!signal.aborted) {
    const reason = await whyNotReady();
    if (reason === undefined) return;
    if (reason !== told) onUnfit(reason);
    told = reason;
    await pause(pollMs, signal);
  }
}
