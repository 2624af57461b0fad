import type { Database } from '@paddock/db/schema/tables';
import { matchIn } from '@paddock/scheduler/matching/match';
import { GATE } from '@paddock/scheduler/scenes/settings.scene';
import { type Kysely, sql } from 'kysely';

const LIMITS = { lockTimeoutMs: 10_000, statementTimeoutMs: 60_000, idleTimeoutMs: 60_000 };
const SETTINGS = { ...GATE, appIds: [1] };

/** Milliseconds that it took. */
export async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** The cheapest possible query: the waiting jobs, counted in their index. */
export const countWaiting = (db: Kysely<Database>): Promise<unknown> =>
  sql`/* prepared */ select count(*) from jobs where wants_worker`.execute(db);

class TakenBack extends Error {}

/**
 * A whole pass as the scheduler does it, rolled back at its end so that the next one finds the same
 * rows.
 */
export async function matchAndTakeBack(db: Kysely<Database>): Promise<void> {
  const pass = db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await matchIn(trx, SETTINGS, LIMITS);
      throw new TakenBack();
    });
  await pass.catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
}

/**
 * The predecessor's way: read all pending jobs, and for each count the active jobs and workers of
 * its entity and labels. False: it took longer than the limit and was given up.
 */
export async function matchOneByOne(db: Kysely<Database>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  const { rows } = await sql<{ entity_id: number; job_labels: unknown }>`
    select job_id, entity_id, job_labels from jobs where status = 'pending' order by created_at`.execute(
    db,
  );
  for (const { entity_id: entityId, job_labels: labels } of rows) {
    if (performance.now() > deadline) return false;
    for (const table of ['jobs', 'workers']) {
      await sql`select count(*) from ${sql.table(table)}
        where entity_id = ${entityId} and job_labels = ${JSON.stringify(labels)}::jsonb and status in ('pending', 'running')`.execute(
        db,
      );
    }
  }
  return true;
}
