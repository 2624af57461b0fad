import { pause } from '@paddock/runtime/pause';
import { type DatabaseFacts, type Place, readDatabaseFacts, whyUnfit } from '../database-checks.ts';
import type { Db } from '../schema/tables.ts';
import { Client } from './client.ts';
import type { ConnectionConfig } from './pool.ts';
import { isShortage, sqlStateOf } from './errors.ts';

export interface FitnessOptions extends Place {
  readonly db: Db;
  /** How to open connections that test the way to PostgreSQL. */
  readonly config: ConnectionConfig;
  /** Longest time for PostgreSQL to answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Called for each new reason that is no outage; at the start, for those too. */
  readonly onUnfit?: (reason: string) => void;
  /** Called for all that PostgreSQL says of itself. */
  readonly onFacts?: (facts: DatabaseFacts) => void;
}

/** Returns why the service cannot work now, as a sentence; undefined: it can. Never throws. */
export type WhyNotReady = () => Promise<string | undefined>;

/** Shorter than a kubelet's limit for a probe and than a person waits at a terminal. */
const TIMEOUT_MS = 3_000;

/**
 * Checks whether PostgreSQL answers, and what `database-checks.ts` lists. Once, at its first answer,
 * checks that no proxy takes our sessions apart. Callers at the same time share one question.
 */
export function createFitness({
  db,
  config,
  timeoutMs = TIMEOUT_MS,
  onUnfit,
  onFacts,
  ...place
}: FitnessOptions): WhyNotReady {
  let hasSessions = false;
  let wasFit = false;
  let told: string | undefined;
  let asked: Promise<string | undefined> | undefined;

  const tell = (reason: string | undefined, isOutage: boolean): string | undefined => {
    wasFit ||= reason === undefined;
    if (reason !== undefined && reason !== told && !(isOutage && wasFit)) onUnfit?.(reason);
    told = reason;
    return reason;
  };

  async function ask(): Promise<string | undefined> {
    try {
      if (!hasSessions) {
        const pooled = await whyPooled(config, place.schema);
        if (typeof pooled === 'string') return tell(pooled, false);
        hasSessions = pooled;
      }
      const facts = await readDatabaseFacts(db, place);
      onFacts?.(facts);
      return tell(whyUnfit(facts, place), false);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return tell(`PostgreSQL cannot be asked: ${why}`, true);
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
 * true: none does; false: there are not two connections to find out with. Two open connections have
 * two backends and keep them, unless a proxy shares them between transactions or statements. Throws
 * all other errors of connecting.
 */
export async function whyPooled(
  config: ConnectionConfig,
  schema: string,
): Promise<string | boolean> {
  const limit = config.connectionTimeoutMillis;
  const clients = [1, 2].map(() => new Client({ ...config, query_timeout: limit }));
  // A broken connection fails its statement, which reports it.
  for (const client of clients) client.on('error', () => undefined);
  try {
    for (const client of clients) await client.connect();
    const sessions = [];
    // In turns, so that a proxy that hands out another connection each time has one to hand out.
    for (const client of [...clients, ...clients]) {
      const { rows } = await client.query<{ pid: number; path: string }>(SESSION);
      sessions.push(...rows);
    }
    const [first, second, ...again] = sessions.map(({ pid }) => pid);
    if (sessions.some(({ path }) => path !== schema))
      return `a proxy before PostgreSQL drops the start-up options of our connections. ${ADVICE}`;
    if (first === second || first !== again[0] || second !== again[1])
      return `a transaction-pooling proxy stands before PostgreSQL. ${ADVICE}`;
    return true;
  } catch (error) {
    if (isShortage(error)) return false;
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
