import type { Database, Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';

/** Deletes all rows of these tables at once, so that no reference between them is in the way. */
export async function emptyTables(db: Db, tables: readonly (keyof Database)[]): Promise<void> {
  const deletes = tables.map(
    (table, n) => sql`${sql.raw(`t${n}`)} as (delete from ${sql.table(table)})`,
  );
  await sql`with ${sql.join(deletes)} select`.execute(db);
}
