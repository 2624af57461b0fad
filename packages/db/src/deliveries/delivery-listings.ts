import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';

/**
 * A part of an App's delivery log that was listed; `cursor` says where the listing continues below
 * it, if it stopped there.
 */
export interface ListedSpan {
  newestAt: Date;
  oldestAt: Date;
  cursor: string | null;
}

/** The listed parts of the App's log, newest first. */
export async function listedSpans(db: Kysely<Database>, appId: number): Promise<ListedSpan[]> {
  return db
    .selectFrom('delivery_listings')
    .select(['newest_at as newestAt', 'oldest_at as oldestAt', 'cursor'])
    .where('app_id', '=', appId)
    .orderBy('newest_at', 'desc')
    .execute();
}

/** The database's clock, and when the App's log was last listed; null: never. */
export async function listingTimes(
  db: Kysely<Database>,
  appId: number,
): Promise<{ now: Date; listedAt: Date | null }> {
  const { rows } = await sql<{ now: Date; listedAt: Date | null }>`
    select now() as now, max(listed_at) as "listedAt" from delivery_listings where app_id = ${appId}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered an aggregate without a row.');
  return row;
}

/** Replaces the listed parts. Two writers at once leave one of both sets, and both are true. */
export async function replaceListedSpans(
  trx: Transaction<Database>,
  appId: number,
  spans: readonly ListedSpan[],
): Promise<void> {
  await trx.deleteFrom('delivery_listings').where('app_id', '=', appId).execute();
  if (spans.length === 0) return;
  await trx
    .insertInto('delivery_listings')
    .values(
      spans.map(({ newestAt, oldestAt, cursor }) => ({
        app_id: appId,
        newest_at: newestAt,
        oldest_at: oldestAt,
        cursor,
      })),
    )
    .execute();
}
