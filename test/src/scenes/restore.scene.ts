import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/** All tables as they were at one instant, kept in the same database. */
export interface Backup {
  readonly takenAt: Date;
  /** Puts every table back as it was. No service may run meanwhile. */
  restore(): Promise<void>;
}

/** Takes a backup while the services work, as pg_dump would. */
export async function takeBackup(db: Kysely<Database>, schema: string): Promise<Backup> {
  const tables = await columnsToKeep(db, schema);
  const takenAt = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await sql`create schema backup`.execute(trx);
      for (const { table, columns } of tables) {
        await sql`create table ${sql.table(`backup.${table}`)} as select ${columns} from ${sql.table(table)}`.execute(
          trx,
        );
      }
      const { rows } = await sql<{ now: Date }>`select now()`.execute(trx);
      return rows[0]?.now ?? new Date();
    });
  return {
    takenAt,
    restore: () =>
      db.transaction().execute(async (trx) => {
        await sql`truncate ${sql.join(tables.map(({ table }) => sql.table(table)))}`.execute(trx);
        for (const { table, columns } of tables)
          await sql`insert into ${sql.table(table)} (${columns}) overriding system value
            select ${columns} from ${sql.table(`backup.${table}`)}`.execute(trx);
      }),
  };
}

/** Tables that refer to others come last. */
async function columnsToKeep(db: Kysely<Database>, schema: string) {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    select table_name as "table", array_agg(column_name::text order by ordinal_position) as columns
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = ${schema} and table_type = 'BASE TABLE' and is_generated = 'NEVER' and not starts_with(table_name, 'schema_migration')
    group by table_name
    order by exists (
      select from pg_constraint where contype = 'f' and conrelid = to_regclass(${schema} || '.' || quote_ident(table_name)))`.execute(
    db,
  );
  return rows.map(({ table, columns }) => ({
    table,
    columns: sql.join(columns.map((column) => sql.ref(column))),
  }));
}
