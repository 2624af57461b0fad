import { prepared } from '@paddock/db/connection/prepared';
import type { Database } from '@paddock/db/schema/tables';
import { jsonText } from '@paddock/domain/text/storable';
import { sql, type Transaction } from 'kysely';
import { mergedPayload } from './merge-requests.ts';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_MAX_CRASHES, type NewTask } from './new-task.ts';

/** A task that a person asks for. It is due at once. */
export interface AskedTask extends Pick<
  NewTask,
  'kind' | 'subject' | 'payload' | 'maxAttempts' | 'maxCrashes' | 'deliveryGuid'
> {
  readonly requestedBy: string;
}

/**
 * Enqueues what a person asked for, in the caller's transaction. A queued task of the same kind and
 * subject serves for this request too. It becomes MANUAL and keeps who asked for it first. It is due
 * now. Returns the id of the task that serves.
 */
export async function enqueueAsked(
  trx: Transaction<Database>,
  { kind, subject, payload = {}, requestedBy, deliveryGuid, ...limits }: AskedTask,
): Promise<string> {
  const { maxAttempts = DEFAULT_MAX_ATTEMPTS, maxCrashes = DEFAULT_MAX_CRASHES } = limits;
  // The insert trigger wakes executors for a new task, and this statement for one that was queued.
  const { rows } = await sql<{ id: string }>`${prepared}
    with asked as (
      insert into tasks (kind, subject_type, subject_id, subject_name, payload, origin, requested_by, delivery_guid, max_attempts, max_crashes)
      values (${kind}, ${subject.type}, ${subject.id}, ${subject.name ?? null}, ${jsonText(payload)}::jsonb, 'MANUAL', ${requestedBy},
        ${deliveryGuid ?? null}, ${maxAttempts}, ${maxCrashes})
      on conflict (subject_id, subject_type, kind) where status = 'queued' do update set
        origin = 'MANUAL', requested_by = coalesce(tasks.requested_by, excluded.requested_by),
        payload = ${mergedPayload('tasks', 'excluded')},
        due_at = least(tasks.due_at, excluded.due_at)
      returning id, kind, due_at
    )
    select id, case when due_at <= now() then pg_notify(current_schema() || '_task_event', kind) end from asked`.execute(
    trx,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered an insert without a row.');
  return row.id;
}
