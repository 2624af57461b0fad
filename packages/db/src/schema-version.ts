import { type Kysely, sql } from 'kysely';
import type { Database } from './schema/tables.ts';

/**
 * The number of the newest migration that this code was written for; a test compares it with
 * db/migrations.
 */
export const SCHEMA_VERSION = 1;

/**
 * Returns why a service cannot work on this database; undefined: it can. A newer schema is fine: in
 * a rolling upgrade the migration runs first, then old and new services work side by side.
 */
export async function whyUnfit(db: Kysely<Database>, schema: string): Promise<string | undefined> {
  const version = await currentVersion(db);
  if (version === undefined)
    return (
      (await whyHidden(db, schema)) ??
      `the schema ${schema} has no tables of Paddock yet: run \`pnpm db:migrate\``
    );
  if (version < SCHEMA_VERSION) {
    return `the schema ${schema} is at version ${version} and this service needs ${SCHEMA_VERSION} or newer: run \`pnpm db:migrate\``;
  }
  return undefined;
}

/**
 * A role without rights sees no table. Without this check its service would ask for a migration
 * that was made long ago.
 */
async function whyHidden(db: Kysely<Database>, schema: string): Promise<string | undefined> {
  const { rows } = await sql<{ role: string }>`
    select current_user as role from pg_namespace where nspname = ${schema} and not has_schema_privilege(oid, 'usage')`.execute(
    db,
  );
  const [hidden] = rows;
  return (
    hidden &&
    `the role ${hidden.role} may not use the schema ${schema}: make it a member of its service’s role, see docs/roles.md`
  );
}

/** Whether the schema lacks a migration that this code needs. */
export async function isMigrationNeeded(db: Kysely<Database>): Promise<boolean> {
  return ((await currentVersion(db)) ?? 0) < SCHEMA_VERSION;
}

async function currentVersion(db: Kysely<Database>): Promise<number | undefined> {
  const { rows: found } = await sql<{
    present: boolean;
  }>`select to_regclass('schema_migration') is not null as present`.execute(db);
  if (found[0]?.present !== true) return undefined;
  const { rows } = await sql<{
    name: string | null;
  }>`select max(name) as name from schema_migration`.execute(db);
  const name = rows[0]?.name;
  return name === null || name === undefined ? undefined : Number.parseInt(name, 10);
}
