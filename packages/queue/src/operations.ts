import { type RawBuilder, sql } from 'kysely';

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
