import type { Json } from '@paddock/db/schema/columns';
import type { Database } from '@paddock/db/schema/tables';
import { type RawBuilder, sql, type Transaction } from 'kysely';

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

/**
 * Locks failed operations for a person who retries or discards them, at most `limit`. Waits for
 * somebody else who has one of them. They come in the order in which enqueuers lock tasks.
 */
export async function lockFailed(
  trx: Transaction<Database>,
  filter: FailedFilter,
  limit: number,
): Promise<FailedOperation[]> {
  const { rows } = await sql<FailedOperation>`
    with failed as (
      select * from operations where ${isFailed(filter)} order by finished_at desc, id desc limit ${limit} for no key update
    )
    select id, kind, payload, max_attempts as "maxAttempts", delivery_guid as "deliveryGuid",
      json_strip_nulls(json_build_object('type', subject_type, 'id', subject_id, 'name', subject_name)) as subject
    from failed order by kind, subject_type, subject_id, id`.execute(trx);
  return rows;
}

/** SQL: the filter names the operation. It has failed, and nobody has retried or discarded it. */
export function isFailed(filter: FailedFilter): RawBuilder<boolean> {
  const conditions = [sql`status = 'ERROR' and handled_at is null and expires_at > now()`];
  if ('id' in filter) conditions.push(sql`id = ${filter.id}::uuid`);
  else {
    const { kind, from, to } = filter;
    if (kind !== undefined) conditions.push(sql`kind = ${kind}`);
    if (from !== undefined) conditions.push(sql`finished_at >= ${from}`);
    if (to !== undefined) conditions.push(sql`finished_at < ${to}`);
  }
  return sql`${sql.join(conditions, sql` and `)}`;
}

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
