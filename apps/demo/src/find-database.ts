import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@paddock/db/connection/connect';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { sql } from 'kysely';

/** The embedded PostgreSQL, or a schema of our own in the one that is named; `undo` gets what takes either away again. */
export async function findDatabase(
  databaseUrl: string | undefined,
  undo: (() => Promise<void>)[],
): Promise<{ databaseUrl: string; schema: string }> {
  if (databaseUrl === undefined || databaseUrl === '') {
    const postgres = await startPostgres();
    undo.unshift(() => postgres.stop());
    return { databaseUrl: postgres.url(), schema: 'paddock' };
  }
  const schema = `paddock_demo_${randomBytes(4).toString('hex')}`;
  undo.unshift(async () => {
    const { db, close } = connectDatabase({ url: databaseUrl, schema, poolSize: 1, applicationName: 'paddock-demo' });
    try {
      await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
    } finally {
      await close();
    }
  });
  return { databaseUrl, schema };
}
