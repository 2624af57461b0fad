import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/** Inserts by the million go faster into tables without indexes and triggers. */
export async function withoutIndexes(
  db: Kysely<Database>,
  tables: readonly (keyof Database)[],
  fill: () => Promise<void>,
): Promise<void> {
  const { rows: indexes } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = current_schema() and tablename = any(${tables}::text[]) and indexname not like '%_pkey'`.execute(
    db,
  );
  for (const { name } of indexes) await sql`drop index ${sql.table(name)}`.execute(db);
  await setTriggers(db, tables, 'disable');
  await fill();
  await setTriggers(db, tables, 'enable');
  for (const { definition } of indexes) await sql.raw(definition).execute(db);
}

async function setTriggers(
  db: Kysely<Database>,
  tables: readonly string[],
  how: 'disable' | 'enable',
): Promise<void> {
  for (const table of tables)
    await sql`alter table ${sql.table(table)} ${sql.raw(how)} trigger user`.execute(db);
}

/** The work of autovacuum after such changes, at a moment that we choose. */
export async function settle(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{
    name: string;
  }>`select tablename as name from pg_tables where schemaname = current_schema()`.execute(db);
  for (const { name } of rows) await sql`vacuum (analyze) ${sql.table(name)}`.execute(db);
}
