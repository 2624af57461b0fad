import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** The name that pauses all sweeps at once. */
export const EVERY_SWEEP = '*';

/** A sweep that does nothing for now, by the kind of its task; for one subject; or all of them. */
export interface PausedSweep {
  readonly name: string;
  readonly pausedBy: string;
  readonly pausedAt: Date;
  readonly note: string | null;
}

/**
 * Pauses a sweep, or all, before their next pass; a dry run still runs. Repeating it changes
 * nothing. True: it was not paused before.
 */
export async function pauseSweep(
  db: Kysely<Database>,
  name: string,
  pausedBy: string,
  note?: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('paused_sweeps')
    .values({ name, paused_by: pausedBy, note })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Ends such a pause; a sweep stays paused while all are. True: it was paused before. */
export async function resumeSweep(db: Kysely<Database>, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('paused_sweeps')
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** The name that pauses a sweep for one subject only. */
export const pauseOfSubject = (name: string, subjectId: string): string => `${name}:${subjectId}`;

/** The pause that holds this sweep back now for a subject, its own before the one of all. */
export async function findPause(
  db: Kysely<Database>,
  name: string,
  subjectId: string,
): Promise<PausedSweep | undefined> {
  return db
    .selectFrom('paused_sweeps')
    .select(['name', 'paused_by as pausedBy', 'paused_at as pausedAt', 'note'])
    .where('name', 'in', [name, pauseOfSubject(name, subjectId), EVERY_SWEEP])
    .orderBy(sql`name = ${EVERY_SWEEP}`)
    .limit(1)
    .executeTakeFirst();
}
