import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/**
 * Removes reasons that ended more than `keepHours` ago, at most `batch`. Returns how many; fewer
 * than `batch`: none is left.
 */
export async function retireWaitReasons(
  db: Kysely<Database>,
  { keepHours, batch }: { keepHours: number; batch: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from wait_reason_changes where ctid = any (array(
      select ctid from wait_reason_changes where until < now() - ${keepHours} * interval '1 hour' order by until limit ${batch}))`.execute(
    db,
  );
  return Number(numAffectedRows);
}
