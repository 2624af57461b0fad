import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/**
 * How many things each App lacks, by its id, according to the newest check of the Apps; empty once
 * its result has expired.
 */
export async function findProblemsOfApps(db: Kysely<Database>): Promise<Record<string, number>> {
  const { rows } = await sql<{ problems: Record<string, number> }>`
    select output -> 'problemsOfApps' as problems from operations
    where subject_type = 'schedule' and subject_id = 'check-apps' and kind = 'check-apps' and status = 'OK' and output ? 'problemsOfApps'
    order by queued_at desc limit 1`.execute(db);
  return rows[0]?.problems ?? {};
}
