import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** All that `read` reads is of one instant, and it can write nothing. */
export const inSnapshot = <T>(
  db: Kysely<Database>,
  read: (trx: Transaction<Database>) => Promise<T>,
): Promise<T> =>
  db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
