import { sql } from 'kysely';
import type { Db } from './schema/tables.ts';

/** The newest migration that this code was written for; a test compares it. */
export const SCHEMA_VERSION = 1;

/** Whether the schema lacks a migration that this code needs. */
export async function isMigrationNeeded(db: Db): Promise<boolean> {
  return ((await currentVersion(db)) ?? 0) < SCHEMA_VERSION;
}

/** The number of the newest migration of the schema; undefined: it has none of our tables. */
export async function currentVersion(db: Db): Promise<number | undefined> {
  const { rows: found } = await sql<{ present: boolean }>`
    select to_regclass('schema_migration') is not null as present`.execute(db);
  if (found[0]?.present !== true) return undefined;
  const { rows } = await sql<{ version: number | null }>`
    select left(max(name), 4)::integer as version from schema_migration`.execute(db);
  return rows[0]?.version ?? undefined;
}
