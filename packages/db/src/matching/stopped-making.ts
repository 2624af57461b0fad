import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** Where the making of workers is stopped: everywhere, in a pool, or for an entity. */
export type MakingSubject =
  | { readonly type: 'environment' }
  | { readonly type: 'pool'; readonly name: string }
  | { readonly type: 'entity'; readonly entityId: number };

/**
 * Stops the making of workers from the next pass on, and wakes it. Reservations that have not begun
 * to register go back; other workers continue. Returns false if it was stopped already: then who
 * stopped it, and why, stays.
 */
export async function stopMaking(
  db: Kysely<Database>,
  subject: MakingSubject,
  stoppedBy: string,
  note?: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('stopped_making')
    .values({ subject_type: subject.type, subject_id: idOf(subject), stopped_by: stoppedBy, note })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Ends such a stop; what another one forbids stays forbidden. Returns whether it was stopped. */
export async function resumeMaking(db: Kysely<Database>, subject: MakingSubject): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('stopped_making')
    .where('subject_type', '=', subject.type)
    .where('subject_id', '=', idOf(subject))
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Whether such a stop holds; another one may hold it back too. */
export async function isMakingStopped(
  db: Kysely<Database>,
  subject: MakingSubject,
): Promise<boolean> {
  const rows = await db
    .selectFrom('stopped_making')
    .select('subject_id')
    .where('subject_type', '=', subject.type)
    .where('subject_id', '=', idOf(subject))
    .execute();
  return rows.length > 0;
}

/**
 * For a WHERE: the row of `stopped_making` has the id of an entity. Rows that are older than the
 * table's check may have anything there.
 */
export const NAMES_ENTITY = sql<boolean>`subject_type = 'entity' and subject_id ~ '^[1-9][0-9]{0,14}$'`;

function idOf(subject: MakingSubject): string {
  switch (subject.type) {
    case 'environment':
      return '';
    case 'pool':
      return subject.name;
    case 'entity':
      return String(subject.entityId);
    default:
      return subject satisfies never;
  }
}
