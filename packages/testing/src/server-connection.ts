import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Opens one connection while `work` runs. */
export async function withConnection<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'paddock-test-server' });
  // An idle connection that breaks raises this event too; then its next query fails.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The URL of another database on the same server. */
export function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** A database name unique to this run and test file, usable without quotes. */
export function uniqueDatabaseName(prefix: string): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`;
}

/** PostgreSQL's code for "the database is being accessed by other users". */
const OBJECT_IN_USE = '55006';

/**
 * Drops a database, with its sessions if they stay.
 *
 * The first try is without force: PostgreSQL waits up to five seconds for sessions that are ending,
 * as those of a closed pool. Cutting these would raise an error event in a pool without listeners.
 */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withConnection(serverUrl, async (client) => {
    const quoted = pg.escapeIdentifier(name);
    try {
      await client.query(`drop database if exists ${quoted}`);
    } catch (error) {
      if (!isInUse(error)) throw error;
      await client.query(`drop database if exists ${quoted} with (force)`);
    }
  });
}

function isInUse(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === OBJECT_IN_USE
  );
}
