import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/**
 * Deletes expired operations, oldest first, at most `batch`. Returns how many; fewer than `batch`
 * means that none is left. Any number of processes may do this at once. Keeps the counts per hour.
 */
export async function purgeOperations(db: Kysely<Database>, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from operations where id = any (array(
      select id from operations where expires_at < now() order by expires_at limit ${batch} for update skip locked))
    returning 1 as gone`.execute(db);
  return rows.length;
}
