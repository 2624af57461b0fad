import { sql } from 'kysely';
import type { Db } from './schema/tables.ts';

/** The newest migration that this code was written for; a test compares it. */
export const SCHEMA_VERSION = 1;

/**
 * Returns why a service cannot work on this database; undefined: it can. A newer schema is fine: in
 * a rolling upgrade the migration runs first, then old and new services work side by side.
 */
export async function whyUnfit(db: Db, schema: string): Promise<string | undefined> {
  const version = await currentVersion(db);
  if (version === undefined)
    return `this login sees no tables of Paddock in the schema ${schema}: run \`pnpm db:migrate\`, or make it a member of its service’s role, see docs/roles.md`;
  if (version < SCHEMA_VERSION) {
    return `the schema ${schema} is at version ${version} and this service needs ${SCHEMA_VERSION} or newer: run \`pnpm db:migrate\``;
  }
  return undefined;
}

/** Whether the schema lacks a migration that this code needs. */
export async function isMigrationNeeded(db: Db): Promise<boolean> {
  return ((await currentVersion(db)) ?? 0) < SCHEMA_VERSION;
}

async function currentVersion(db: Db): Promise<number | undefined> {
  const { rows: found } = await sql<{ present: boolean }>`
    select to_regclass('schema_migration') is not null as present`.execute(db);
  if (found[0]?.present !== true) return undefined;
  const { rows } = await sql<{ version: number | null }>`
    select left(max(name), 4)::integer as version from schema_migration`.execute(db);
  return rows[0]?.version ?? undefined;
}
