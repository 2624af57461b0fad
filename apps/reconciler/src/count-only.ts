import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

/** Counts what `act` would change: rolls its transaction back. For few statements on few rows. */
async function countOnly<T>(
  db: Kysely<Database>,
  act: (db: Kysely<Database>) => Promise<T>,
): Promise<T> {
  const trx = await db.startTransaction().execute();
  try {
    return await act(trx);
  } finally {
    await trx.rollback().execute();
  }
}

/** Acts, or in a dry run counts what `act` would change. */
export const actOrCount = <T>(
  db: Kysely<Database>,
  dryRun: boolean,
  act: (db: Kysely<Database>) => Promise<T>,
): Promise<T> => (dryRun ? countOnly(db, act) : act(db));
