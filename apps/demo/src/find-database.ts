import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@paddock/db/connection/connect';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { roleOf, type ServiceName } from '@paddock/db/connection/schema-name';
import { sql } from 'kysely';

const SERVICES: readonly ServiceName[] = ['ingress', 'scheduler', 'reconciler', 'console'];

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
      // The roles that the migrator has made for the schema, with their rights in this database.
      for (const role of SERVICES.map((name) => roleOf(schema, name))) {
        const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(db);
        if (rows.length === 0) continue;
        await sql`drop owned by ${sql.id(role)}`.execute(db);
        await sql`drop role ${sql.id(role)}`.execute(db);
      }
    } finally {
      await close();
    }
  });
  return { databaseUrl, schema };
}
