import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/** Ends or begins the scheduler's waits, so that no test waits for them. */
export const waitsOf = (db: Kysely<Database>) => ({
  /** As if the wait of every queued task were over. */
  makeDue: () =>
    db
      .updateTable('tasks')
      .set({ due_at: new Date(0) })
      .where('status', '=', 'queued')
      .execute(),
  /** As if all that GitHub has asked to wait for were over. */
  endWaits: () =>
    db
      .updateTable('breakers')
      .set({ paused_until: new Date(0) })
      .where('failure_class', '=', 'rate_limited')
      .execute(),
  /** As if the pauses of all breakers were over as well. */
  endPauses: () =>
    db
      .updateTable('breakers')
      .set({ paused_until: new Date(0) })
      .where(sql<boolean>`pauses > 0 or failure_class = 'rate_limited'`)
      .execute(),
  /**
   * As if all pauses of breakers had just begun: on a busy machine, one could end during a test's
   * step.
   */
  holdPauses: () =>
    db
      .updateTable('breakers')
      .set({ paused_until: sql<Date>`now() + interval '1 hour'` })
      .where('pauses', '>', 0)
      .execute(),
});
