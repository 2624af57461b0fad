import type { Json } from '@paddock/db/schema/columns';
import type { Database } from '@paddock/db/schema/tables';
import { sql, type Transaction } from 'kysely';

/** Which failed operations are meant: one, or the newest of those that fit. */
export type FailedFilter =
  | { readonly id: string }
  | {
      readonly kind?: string | undefined;
      /** Ended from here on. */
      readonly from?: Date | undefined;
      /** Ended before. */
      readonly to?: Date | undefined;
    };

/** A failed operation that nobody has dealt with: all that it takes to repeat it. */
export interface FailedOperation {
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly type: string; readonly id: string; readonly name?: string };
  readonly payload: Json;
  readonly maxAttempts: number;
  readonly deliveryGuid: string | null;
}

interface Row {
  id: string;
  kind: string;
  subject_type: string;
  subject_id: string;
  subject_name: string | null;
  payload: Json;
  max_attempts: number;
  delivery_guid: string | null;
}

/**
 * Locks failed operations for a person who retries or discards them, at most `limit`. Waits for
 * somebody else who has one of them. They come in the order in which enqueuers lock tasks.
 */
export async function lockFailed(
  trx: Transaction<Database>,
  filter: FailedFilter,
  limit: number,
): Promise<FailedOperation[]> {
  const { rows } = await sql<Row>`
    with failed as (
      select id, kind, subject_type, subject_id, subject_name, payload, max_attempts, delivery_guid from operations
      where status = 'ERROR' and handled_at is null and expires_at > now() and ${isMeant(filter)}
      order by finished_at desc, id desc limit ${limit} for no key update
    )
    select * from failed order by kind, subject_type, subject_id, id`.execute(trx);
  return rows.map(toFailed);
}

function isMeant(filter: FailedFilter) {
  if ('id' in filter) return sql`id = ${filter.id}::uuid`;
  const { kind, from, to } = filter;
  return sql.join(
    [
      sql`true`,
      ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
      ...(from === undefined ? [] : [sql`finished_at >= ${from}`]),
      ...(to === undefined ? [] : [sql`finished_at < ${to}`]),
    ],
    sql` and `,
  );
}

const toFailed = (row: Row): FailedOperation => ({
  id: row.id,
  kind: row.kind,
  subject: {
    type: row.subject_type,
    id: row.subject_id,
    ...(row.subject_name !== null && { name: row.subject_name }),
  },
  payload: row.payload,
  maxAttempts: row.max_attempts,
  deliveryGuid: row.delivery_guid,
});

/** What a person made of a failed operation: repeated as another one, or (null) discarded. */
export interface Handled {
  readonly id: string;
  readonly retriedAs: string | null;
}

/** Notes who dealt with failed operations that `lockFailed` has locked. */
export async function noteHandled(
  trx: Transaction<Database>,
  handled: readonly Handled[],
  by: string,
): Promise<void> {
  if (handled.length === 0) return;
  await sql`
    update operations set handled_by = ${by}, handled_at = now(), retried_as = given."retriedAs"
    from jsonb_to_recordset(${JSON.stringify(handled)}::jsonb) as given(id uuid, "retriedAs" uuid)
    where operations.id = given.id`.execute(trx);
}
