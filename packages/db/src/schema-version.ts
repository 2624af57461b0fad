import { rowsOf } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** The newest migration that this code was written for; a test compares it. */
export const SCHEMA_VERSION = 1;

/** Whether the schema lacks a migration that this code needs. */
export async function isMigrationNeeded(db: Db): Promise<boolean> {
  return ((await currentVersion(db)) ?? 0) < SCHEMA_VERSION;
}

/** The number of the newest migration of the schema; undefined: it has none of our tables. */
export async function currentVersion(db: Db): Promise<number | undefined> {
  const found = await rowsOf<{ present: boolean }>(db)`
    select to_regclass('schema_migration') is not null as present`;
  if (found[0]?.present !== true) return undefined;
  const rows = await rowsOf<{ version: number | null }>(db)`
    select left(max(name), 4)::integer as version from schema_migration`;
  return rows[0]?.version ?? undefined;
}
