import type { TaskFailure } from '@paddock/db/schema/queue-tables';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/** A task as people see it, from enqueue to expiry. */
export interface Operation {
  id: string;
  kind: string;
  origin: 'MANUAL' | 'AUTOMATIC';
  status: 'QUEUED' | 'RUNNING' | 'OK' | 'ERROR';
  subject: { type: string; id: string; name: string | null };
  requestedBy: string | null;
  attempt: number;
  maxAttempts: number;
  queuedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** When a queued task runs next. */
  nextRunAt: Date | null;
  output: unknown;
  /** Why it failed, or how the last run of an unfinished task failed. */
  failure: { reason: string; message: string } | null;
}

interface Row {
  id: string;
  kind: string;
  origin: 'MANUAL' | 'AUTOMATIC';
  status: Operation['status'];
  subject_type: string;
  subject_id: string;
  subject_name: string | null;
  requested_by: string | null;
  attempt: number;
  max_attempts: number;
  queued_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  next_run_at: Date | null;
  output: unknown;
  failure_reason: string | null;
  failure_message: string | null;
  last_failure: TaskFailure | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The operation of this id, or undefined if there is none or it has expired. */
export async function findOperation(
  db: Kysely<Database>,
  id: string,
): Promise<Operation | undefined> {
  if (!UUID.test(id)) return undefined;
  const common = sql.raw(
    'id, kind, origin, subject_type, subject_id, subject_name, requested_by, attempt, max_attempts, queued_at, started_at',
  );
  // One statement, so one snapshot: between two statements the task could move and be in neither.
  const { rows } = await sql<Row>`
    select ${common}, upper(status) as status, null::timestamptz as finished_at, case status when 'queued' then due_at end as next_run_at,
           null::jsonb as output, null::text as failure_reason, null::text as failure_message, failures -> -1 as last_failure
    from tasks where id = ${id}
    union all
    select ${common}, status, finished_at, null, output, failure_reason, failure_message, null
    from operations where id = ${id} and expires_at > now()`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : toOperation(row);
}

function toOperation(row: Row): Operation {
  const { last_failure: last, failure_reason: reason, failure_message: message } = row;
  return {
    id: row.id,
    kind: row.kind,
    origin: row.origin,
    status: row.status,
    subject: { type: row.subject_type, id: row.subject_id, name: row.subject_name },
    requestedBy: row.requested_by,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    queuedAt: row.queued_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    nextRunAt: row.next_run_at,
    output: row.output,
    failure:
      reason !== null
        ? { reason, message: message ?? '' }
        : last === null
          ? null
          : { reason: last.reason, message: last.message },
  };
}
