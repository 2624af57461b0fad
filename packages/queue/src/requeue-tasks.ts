import type { Database } from '@paddock/db/schema/tables';
import { jsonText } from '@paddock/domain/text/storable';
import { type Kysely, sql } from 'kysely';
import type { Settlement } from './decide-settlement.ts';
import { type Claim, isStillHeld } from './end-tasks.ts';
import { withFailure } from './failures.ts';
import { CARRIED, countEnded } from './operations.ts';
import { mergedPayload } from './merge-requests.ts';
import { milliseconds } from '@paddock/db/milliseconds';

export type RequeuedTask = Claim &
  Pick<Extract<Settlement, { to: 'queued' }>, 'delayMs' | 'giveBack' | 'failure'>;

/**
 * Puts running tasks back to queued. A task absorbs its queued successor: it is due at the earlier
 * of the two instants, serves both requests, and is MANUAL if either is. The successor's operation
 * ends OK with `{ mergedInto }`. Wakes executors
 * of tasks that are due at once. Returns the ids of the tasks whose claim still held.
 *
 * The parts of the statement run in the order in which they need each other:
 * 1. `ours` locks the tasks, so that a task that is gone absorbs no successor;
 * 2. `absorbed` deletes the successors, and `merged` waits for all of them: only then does the index
 *    of queued tasks have room;
 * 3. `requeued` puts our tasks back.
 * The successors' operations and counts can be written at any time.
 *
 * Throws a unique violation (23505) if a successor commits at this moment: repeat the call.
 */
export async function requeueTasks(
  db: Kysely<Database>,
  tasks: readonly RequeuedTask[],
  keepOkMs: number,
): Promise<string[]> {
  if (tasks.length === 0) return [];
  const given = tasks.map(({ id, fence, holder, delayMs, giveBack, failure }) => ({
    id,
    fence,
    holder,
    delay_ms: delayMs,
    give_back: giveBack ? 1 : 0,
    reason: failure?.reason ?? null,
    message: failure?.message ?? null,
  }));
  const failures = withFailure({
    failures: sql`tasks.failures`,
    attempt: sql`tasks.attempt`,
    reason: sql`ours.reason`,
    message: sql`ours.message`,
  });
  const { rows } = await sql<{ id: string }>`
    with ours as materialized (
      select tasks.kind, tasks.subject_type, tasks.subject_id, given.*
      from tasks join jsonb_to_recordset(${jsonText(given)}::jsonb)
        as given(id uuid, fence bigint, holder text, delay_ms double precision, give_back integer, reason text, message text) using (id)
      where ${isStillHeld}
      order by tasks.kind, tasks.subject_type, tasks.subject_id
      for update of tasks
    ),
    absorbed as (
      delete from tasks using ours
      where tasks.status = 'queued' and tasks.kind = ours.kind
        and tasks.subject_type = ours.subject_type and tasks.subject_id = ours.subject_id
      returning tasks.*, ours.id as merged_into
    ),
    merged as materialized (
      select merged_into, min(due_at) as due_at, (array_agg(payload))[1] as payload, min(origin) as origin, min(requested_by) as requested_by
      from absorbed group by merged_into
    ),
    requeued as (
      update tasks set
        status = 'queued', locked_by = null, locked_until = null, started_at = null,
        attempt = tasks.attempt - ours.give_back,
        failures = case when ours.reason is null then tasks.failures else ${failures} end,
        due_at = least(now() + ${milliseconds(sql`ours.delay_ms`)}, merged.due_at),
        payload = ${mergedPayload('tasks', 'merged')},
        origin = case when merged.origin = 'MANUAL' then merged.origin else tasks.origin end,
        requested_by = coalesce(tasks.requested_by, merged.requested_by)
      from ours left join merged on merged.merged_into = ours.id
      where tasks.id = ours.id
      returning tasks.id, tasks.kind, tasks.due_at
    ),
    ended as (
      insert into operations (${CARRIED}, status, failures, expires_at, output)
      select ${CARRIED}, 'OK', failures, now() + ${milliseconds(keepOkMs)}, jsonb_build_object('mergedInto', merged_into)
      from absorbed
      returning kind, status, failure_reason
    ),
    counted as (${countEnded(sql`ended`)})
    select id, case when due_at <= now() then pg_notify(current_schema() || '_task_event', kind) end from requeued`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}
