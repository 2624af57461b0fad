import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@paddock/db/connection/connect';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { roleOf, type ServiceName } from '@paddock/db/migrate';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

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

/** In the order of their start. */
export const SERVICES = [
  'scheduler',
  'reconciler',
  'ingress',
] as const satisfies readonly ServiceName[];

/** Each service of the demo has a login. */
const LOGINS = [...SERVICES, 'console'] as const satisfies readonly ServiceName[];

export interface ServiceLogins {
  /** The URL with the login of one service. */
  urlOf(service: ServiceName): string;
  drop(): Promise<void>;
}

/** A login for each service, member of only that service's role, for as long as the demo runs. */
export async function createLogins(databaseUrl: string, schema: string): Promise<ServiceLogins> {
  const password = randomBytes(18).toString('hex');
  const suffix = randomBytes(4).toString('hex');
  const nameOf = (service: ServiceName): string => `paddock_demo_${service}_${suffix}`;
  const forEach = async (statement: (service: ServiceName) => string): Promise<void> => {
    const { db, close } = connectDatabase({
      url: databaseUrl,
      schema,
      poolSize: 1,
      applicationName: 'paddock-demo',
    });
    try {
      for (const service of LOGINS) await sql.raw(statement(service)).execute(db);
    } finally {
      await close();
    }
  };
  await forEach(
    (service) =>
      `create role ${nameOf(service)} login password '${password}' in role ${roleOf(schema, service)}`,
  );
  return {
    urlOf(service) {
      const url = new URL(databaseUrl);
      url.username = nameOf(service);
      url.password = password;
      return url.href;
    },
    drop: () => forEach((service) => `drop role ${nameOf(service)}`),
  };
}
