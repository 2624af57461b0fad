import type { TaskFailure } from '@paddock/db/schema/queue-tables';
import { type RawBuilder, sql } from 'kysely';

/** How one run failed. */
export type FailureKind = TaskFailure['reason'];

/** Why a task ended as failed. */
export type FailureReason = 'poison' | 'attempts' | 'crashes' | 'timeout' | 'cancelled';

/**
 * SQL: a task's failures with one more, the last ten. Consecutive snoozes share an entry, so that a
 * long wait does not push out errors. The arguments are SQL expressions over the row.
 */
export const withFailure = (given: {
  failures: RawBuilder<unknown>;
  attempt: RawBuilder<unknown>;
  reason: RawBuilder<unknown>;
  message: RawBuilder<unknown>;
}): RawBuilder<TaskFailure[]> => sql`jsonb_path_query_array(
  case when ${given.reason} = 'snooze' and ${given.failures} -> -1 ->> 'reason' = 'snooze' then ${given.failures} - (-1) else ${given.failures} end
    || jsonb_build_array(jsonb_build_object('attempt', ${given.attempt}, 'at', now(), 'reason', ${given.reason}, 'message', ${given.message})),
  '$[last - 9 to last]')`;
