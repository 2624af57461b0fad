import type { ConnectionConfig } from './connect.ts';
import { sqlStateOf } from './errors.ts';
import { Client } from './client.ts';

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
