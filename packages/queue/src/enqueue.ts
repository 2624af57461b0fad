import { milliseconds } from '@paddock/db/milliseconds';
import { prepared } from '@paddock/db/connection/prepared';
import type { Database } from '@paddock/db/schema/tables';
import { jsonText } from '@paddock/domain/text/storable';
import { type Kysely, sql, type Transaction } from 'kysely';
import { areMerged, mergedPayload } from './merge-requests.ts';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_MAX_CRASHES, type NewTask } from './new-task.ts';

export interface Enqueued {
  readonly id: string;
  readonly kind: string;
  readonly subjectId: string;
  /** The id is that of a task of the kind and subject that was queued before. */
  readonly existed: boolean;
}

interface Row {
  id: string;
  kind: string;
  subject_type: string;
  subject_id: string;
}

/**
 * Enqueues in the caller's transaction; its commit wakes executors. Returns one entry per kind and
 * subject, in any order. Throws a TypeError if a payload is no object.
 *
 * Locks a queued task of the same kind and subject until the caller commits. A run that began
 * before the commit would not see what the caller wrote. A running task gets a successor.
 */
export const enqueue = (
  trx: Transaction<Database>,
  tasks: readonly NewTask[],
): Promise<Enqueued[]> => write(trx, tasks);

/** Enqueues in a transaction of its own, in one round trip to PostgreSQL. */
export const enqueueAlone = (
  db: Kysely<Database>,
  tasks: readonly NewTask[],
): Promise<Enqueued[]> => write(db, tasks);

async function write(db: Kysely<Database>, tasks: readonly NewTask[]): Promise<Enqueued[]> {
  if (tasks.length === 0) return [];
  const given = sql`jsonb_to_recordset(${jsonText(oncePerSubject(tasks))}::jsonb) as given(
    kind text, subject_type text, subject_id text, subject_name text, payload jsonb, origin text, requested_by text, delivery_guid text,
    max_attempts integer, max_crashes integer, due_in_ms double precision)`;
  // Sorted: two enqueuers of the same tasks cannot deadlock. `do update … where` locks the existing
  // row, without a change unless the payloads need to be merged. If a claim takes it during the
  // wait, PostgreSQL inserts after all. A changed row is found by the next statement, which is why
  // it must not count as inserted.
  const { rows: inserted } = await sql<Row & { changed: boolean }>`${prepared}
    insert into tasks (kind, subject_type, subject_id, subject_name, payload, origin, requested_by, delivery_guid,
                       max_attempts, max_crashes, due_at)
    select kind, subject_type, subject_id, subject_name, coalesce(payload, '{}'), coalesce(origin, 'AUTOMATIC'), requested_by, delivery_guid,
           coalesce(max_attempts, ${DEFAULT_MAX_ATTEMPTS}::integer), coalesce(max_crashes, ${DEFAULT_MAX_CRASHES}::integer),
           now() + ${milliseconds(sql`coalesce(due_in_ms, 0)`)}
    from ${given}
    order by kind, subject_type, subject_id
    on conflict (subject_id, subject_type, kind) where status = 'queued' do update set payload = ${mergedPayload('tasks', 'excluded')} where ${areMerged('tasks', 'excluded')}
    returning id, kind, subject_type, subject_id, xmax <> 0 as changed`.execute(db);
  const answer = inserted.filter(({ changed }) => !changed).map((row) => enqueued(row, false));
  if (answer.length === tasks.length) return answer;
  const ids = answer.map(({ id }) => id);
  // An executor that claimed while we held the lock has skipped the task: wake it again.
  const { rows: found } = await sql<Row>`
    select id, kind, subject_type, subject_id,
           case when due_at <= now() then pg_notify(current_schema() || '_task_event', kind) end
    from tasks join ${given} using (kind, subject_type, subject_id)
    where status = 'queued' and id <> all (${ids}::uuid[])`.execute(db);
  return [...answer, ...found.map((row) => enqueued(row, true))];
}

const enqueued = (row: Row, existed: boolean): Enqueued => ({
  id: row.id,
  kind: row.kind,
  subjectId: row.subject_id,
  existed,
});

/** One task per kind and subject: the first, due at the earliest instant. */
function oncePerSubject(tasks: readonly NewTask[]): object[] {
  const rows = new Map<string, ReturnType<typeof rowOf>>();
  for (const task of tasks) {
    const key = JSON.stringify([task.kind, task.subject.type, task.subject.id]);
    const row = rowOf(task);
    const first = rows.get(key);
    if (first === undefined) rows.set(key, row);
    else if (Number(row.due_in_ms ?? 0) < Number(first.due_in_ms ?? 0))
      first.due_in_ms = row.due_in_ms;
  }
  return [...rows.values()];
}

/** Absent fields stay absent, which keeps the JSON of many tasks short. */
function rowOf({
  kind,
  subject,
  payload,
  origin,
  requestedBy,
  deliveryGuid,
  maxAttempts,
  maxCrashes,
  dueInMs,
}: NewTask) {
  if (
    payload !== undefined &&
    (typeof payload !== 'object' || payload === null || Array.isArray(payload))
  ) {
    throw new TypeError(
      `The payload of a task ${kind} for ${subject.type}:${subject.id} is no JSON object: payloads hold ids by name.`,
    );
  }
  return {
    kind,
    subject_type: subject.type,
    subject_id: subject.id,
    subject_name: subject.name,
    payload,
    origin,
    requested_by: requestedBy,
    delivery_guid: deliveryGuid,
    max_attempts: sent(maxAttempts),
    max_crashes: sent(maxCrashes),
    due_in_ms: sent(dueInMs),
  };
}

/** JSON turns NaN and Infinity into null, the default. As text PostgreSQL refuses them (22P02). */
const sent = (value: number | undefined) =>
  value === undefined || Number.isFinite(value) ? value : `${value} is not a finite number`;
