import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** How far an App's delivery log was read, by GitHub's clock. */
export interface LogMark {
  /** Everything up to here was read; null: nothing yet. */
  readonly readTo: Date | null;
  /** Of a reading that broke off: it has everything from `from` down to the cursor. */
  readonly rest?: { readonly cursor: string; readonly from: Date } | undefined;
}

/** The App's mark, when it was stored (null: never), and the database's clock. */
export async function readLogMark(
  db: Kysely<Database>,
  appId: number,
): Promise<{ mark: LogMark; readAt: Date | null; now: Date }> {
  const { rows } = await sql<{
    now: Date;
    readAt: Date | null;
    readTo: Date | null;
    cursor: string | null;
    from: Date | null;
  }>`
    select now() as now, log_read_at as "readAt", log_read_to as "readTo", log_cursor as cursor, log_cursor_from as "from"
    from (select) one left join apps on app_id = ${appId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered an outer join without a row.');
  const { cursor, from, readTo, readAt, now } = row;
  const rest = cursor === null || from === null ? undefined : { cursor, from };
  return { mark: { readTo, rest }, readAt, now };
}

export async function storeLogMark(
  db: Kysely<Database>,
  appId: number,
  { readTo, rest }: LogMark,
): Promise<void> {
  const columns = {
    log_read_at: sql<Date>`now()`,
    log_read_to: readTo,
    log_cursor: rest?.cursor ?? null,
    log_cursor_from: rest?.from ?? null,
  };
  await db
    .insertInto('apps')
    .values({ app_id: appId, ...columns })
    .onConflict((conflict) => conflict.column('app_id').doUpdateSet(columns))
    .execute();
}
