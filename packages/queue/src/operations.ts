import type { Database } from '@paddock/db/schema/tables';
import { jsonText } from '@paddock/domain/text/storable';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { AskedTask } from './enqueue-asked.ts';

/** The columns that an operation copies from its task. */
export const CARRIED = sql.raw(
  'id, kind, subject_type, subject_id, subject_name, payload, origin, requested_by, delivery_guid, attempt, max_attempts, crashes, queued_at, started_at',
);

/**
 * Appends to the counts from a common table expression of new operations. Never updates: a shared
 * counter row would make all settlements wait for each other.
 */
export const countEnded = (operations: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  insert into task_counts (hour, kind, outcome, failure_reason, ended)
  select date_trunc('hour', now(), 'UTC'), kind, status, failure_reason, count(*) from ${operations} group by kind, status, failure_reason`;

/**
 * Stores what a person asked for, and what has been done in the caller's transaction, as an operation
 * that ended well. Returns its id.
 */
export async function recordDone(
  trx: Transaction<Database>,
  { kind, subject, requestedBy }: Pick<AskedTask, 'kind' | 'subject' | 'requestedBy'>,
  output: object,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with ended as (
      insert into operations (id, kind, subject_type, subject_id, payload, origin, requested_by, status, attempt, max_attempts, crashes, failures,
        queued_at, started_at, expires_at, output)
      values (gen_random_uuid(), ${kind}, ${subject.type}, ${subject.id}, '{}', 'MANUAL', ${requestedBy}, 'OK', 1, 1, 0, '[]',
        now(), now(), now() + interval '1 day', ${jsonText(output)}::jsonb)
      returning id, kind, status, failure_reason
    ),
    counted as (${countEnded(sql`ended`)})
    select id from ended`.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered an insert without a row.');
  return row.id;
}
