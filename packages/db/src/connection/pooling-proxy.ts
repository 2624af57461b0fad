import type { ConnectionConfig } from './connect.ts';
import { sqlStateOf } from './errors.ts';
import { PreferringClient } from './prefer-tls.ts';
import { endClient } from './end-client.ts';

const ADVICE =
  'Paddock needs sessions of its own (LISTEN, search_path, prepared statements): connect to PostgreSQL itself, or through a proxy in session mode that passes start-up options on';

/**
 * Says that a proxy between us and PostgreSQL takes the session away that every connection of ours
 * relies on, or undefined if none does. Two connections that are open at once have two backends,
 * unless a proxy hands transactions or statements to whichever is free. Throws whatever else keeps
 * us from connecting.
 */
export async function whyPooled(config: ConnectionConfig, schema: string): Promise<string | undefined> {
  const limit = config.connectionTimeoutMillis;
  const clients = [1, 2].map(() => new PreferringClient({ ...config, query_timeout: limit }));
  // What breaks a connection fails its statement, which is how it is learnt of.
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
    // told to ignore our options.
    if (sqlStateOf(error) === '08P01') return `a proxy before PostgreSQL refuses the start-up options of our connections. ${ADVICE}`;
    throw error;
  } finally {
    // Not waited for: a host that has gone silent never confirms it.
    for (const client of clients) void endClient(client);
  }
}

const SESSION = `select pg_backend_pid() as pid, current_setting('search_path') as path`;
