import type { Kysely } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** The matcher's notes on each entity: its unassigned workers, and why its jobs wait. */
export async function demandOfEntities(db: Kysely<Database>) {
  const all = await db.selectFrom('demand_keys').selectAll().orderBy('entity_id').execute();
  return all.map((key) => [key.entity_id, key.unassigned, key.wait_reason]);
}
