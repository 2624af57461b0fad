import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** The matcher's notes on each entity: its unassigned workers, and why its jobs wait. */
export async function demandOfEntities(db: Kysely<Database>) {
  const all = await db.selectFrom('demand_keys').selectAll().orderBy('entity_id').execute();
  return all.map((key) => [key.entity_id, key.unassigned, key.wait_reason]);
}

/** Whether a statement waits for a lock in this database. */
export async function isSomebodyWaiting(db: Kysely<Database>): Promise<boolean> {
  const { rows: waiting } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    db,
  );
  return waiting.length > 0;
}
