import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@paddock/db/connection/connect';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { roleOf } from '@paddock/db/migrate';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { LOGINS } from './service-logins.ts';

/**
 * The embedded PostgreSQL, or a new schema in the given database; `undo` gets the function that
 * removes either.
 */
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
    const { db, close } = connectDatabase({
      url: databaseUrl,
      schema,
      poolSize: 1,
      applicationName: 'paddock-demo',
    });
    try {
      await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
      await dropRoles(db, schema);
    } finally {
      await close();
    }
  });
  return { databaseUrl, schema };
}

/**
 * The roles that the migrator has made for the schema, with all rights that they have in this
 * database.
 */
async function dropRoles(db: Kysely<Database>, schema: string): Promise<void> {
  const roles = LOGINS.map((service) => roleOf(schema, service));
  const { rows } = await sql<{
    role: string;
  }>`select rolname as role from pg_roles where rolname = any(${roles}::text[])`.execute(db);
  for (const role of rows.map((row) => sql.id(row.role))) {
    await sql`drop owned by ${role}`.execute(db);
    await sql`drop role ${role}`.execute(db);
  }
}
