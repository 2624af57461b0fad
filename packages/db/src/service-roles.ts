import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Kysely, sql } from 'kysely';
import { sqlStateOf } from './connection/errors.ts';
import type { Database } from './schema/tables.ts';

/**
 * Right for the sources and for apps/migrate/dist/main.mjs: both are three folders below the root.
 */
const RIGHTS = fileURLToPath(new URL('../../../db/roles.sql', import.meta.url));

const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'] as const;

export type ServiceName = (typeof SERVICES)[number];

/**
 * The role that gives a service's rights in a schema. Roles belong to a whole server, so the schema
 * is in the name.
 */
export const roleOf = (schema: string, service: ServiceName): string => `${schema}_${service}`;

const rolesOf = (schema: string): string[] => SERVICES.map((service) => roleOf(schema, service));

/**
 * Makes one role unless it is there. Schemas are plain identifiers, so nothing has to be quoted.
 */
const makingRole = (role: string): string => `do $$ begin
  if not exists (select from pg_roles where rolname = '${role}') then
    create role ${role} nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- made by another at this moment
end $$;
`;

/** The rights of the services, for the transaction that sets the search path to the schema. */
const rightsIn = (schema: string): string =>
  readFileSync(RIGHTS, 'utf8').replaceAll(
    /(?<![:\w]):(schema|ingress|scheduler|reconciler|console)\b/g,
    (_whole, name: string) => (name === 'schema' ? schema : roleOf(schema, name as ServiceName)),
  );

/** The SQL that makes the roles and gives them their rights, to be applied by hand. */
export const rolesSql = (schema: string): string =>
  `${rolesOf(schema).map(makingRole).join('')}begin;\nset local search_path = ${schema};\n${rightsIn(schema)}commit;\n`;

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Gives each service's role its rights, and takes all others away. Returns the roles that are
 * missing and that we may not make; then nothing is granted.
 */
export async function grantServices(db: Kysely<Database>, schema: string): Promise<string[]> {
  const missing: string[] = [];
  for (const role of rolesOf(schema)) {
    await sql
      .raw(makingRole(role))
      .execute(db)
      .catch((error: unknown) => {
        if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
        missing.push(role);
      });
  }
  if (missing.length > 0) return missing;
  await db.transaction().execute(async (trx) => {
    // Two grants at once would fail over one row of the catalogue, even for different schemas of
    // the database.
    await sql`select pg_advisory_xact_lock(hashtext('paddock roles'))`.execute(trx);
    await sql.raw(rightsIn(schema)).execute(trx);
  });
  return [];
}
