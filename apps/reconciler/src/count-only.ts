import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

/** Says what `act` would change, and changes nothing: its transaction is rolled back. For few statements that lock few rows. */
export async function countOnly<T>(db: Kysely<Database>, act: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const trx = await db.startTransaction().execute();
  try {
    return await act(trx);
  } finally {
    await trx.rollback().execute();
  }
}

/** Acts, or in a dry run only says what that would change. */
export const actOrCount = <T>(db: Kysely<Database>, dryRun: boolean, act: (db: Kysely<Database>) => Promise<T>): Promise<T> =>
  dryRun ? countOnly(db, act) : act(db);
