import { isBadData, isConflict, isUniqueViolation, retried } from '@paddock/db/connection/errors';
import { prepared } from '@paddock/db/connection/prepared';
import { milliseconds } from '@paddock/db/milliseconds';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { jsonText } from '@paddock/domain/text/storable';
import { type RawBuilder, sql } from 'kysely';
import type { EndSettlement, Settlement } from './decide-settlement.ts';
import { enqueue, mergedPayload } from './enqueue.ts';
import { CARRIED, countEnded, withFailure } from './operations.ts';

export interface ClaimSettlement {
  readonly claim: Claim;
  readonly settlement: Settlement;
}

/**
 * How often a lost race is repeated. Each time at least one of the two transactions gets through.
 */
const TRIES = 10;

/**
 * Writes settlements. One statement ends tasks; their follow-ons are in the same transaction. Each
 * requeued task has its own statement: it may have to wait for an enqueuer. Returns the ids of the
 * tasks whose claim still held.
 *
 * Throws PostgreSQL's error. For bad data (class 22 or 23) one of the settlements is at fault.
 */
export async function writeSettlements(
  db: Db,
  settlements: readonly ClaimSettlement[],
  keep: Keep,
): Promise<Set<string>> {
  const ended = settlements.flatMap(({ claim, settlement }) =>
    settlement.to === 'queued' ? [] : [{ claim, settlement }],
  );
  const settled = new Set(await retryConflicts(() => settleEnded(db, ended, keep)));
  for (const { claim, settlement } of settlements) {
    if (settlement.to !== 'queued') continue;
    const { delayMs, failure } = settlement;
    const task = { ...claim, delayMs, ...(failure && { failure }) };
    for (const id of await retryConflicts(() => requeueTasks(db, [task], keep.okMs)))
      settled.add(id);
  }
  return settled;
}

async function settleEnded(db: Db, tasks: readonly EndedTask[], keep: Keep): Promise<string[]> {
  const followOn = tasks.flatMap(({ claim, settlement }) =>
    settlement.to === 'ok' ? settlement.followOn.map((next) => ({ of: claim.id, next })) : [],
  );
  if (followOn.length === 0) return endTasks(db, tasks, keep);
  return db.transaction().execute(async (trx) => {
    const ids = await endTasks(trx, tasks, keep);
    const ours = followOn.filter(({ of }) => ids.includes(of));
    await enqueue(
      trx,
      ours.map(({ next }) => next),
    );
    return ids;
  });
}

/**
 * Repeats work that lost a race: a deadlock, or a successor committed between its read and its
 * write.
 */
export const retryConflicts = <T>(work: () => Promise<T>): Promise<T> =>
  retried(work, (error) => isConflict(error) || isUniqueViolation(error), TRIES);

/** True if a settlement itself is at fault: repeating it cannot help. */
export const isRefused = (error: unknown): boolean => isBadData(error) && !isUniqueViolation(error);

/** A claim as its holder knows it. A row with another fence or holder belongs to another claim. */
export interface Claim {
  readonly id: string;
  readonly fence: number;
  readonly holder: string;
}

/**
 * SQL: a row of tasks still has the claim in `given`. Not `status = 'running'`: the planner would
 * use the index of running tasks, which is full of dead entries when the queue is busy.
 */
export const isHeldBy = (holder: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`(tasks.status <> 'queued' and tasks.fence = given.fence and tasks.locked_by = ${holder})`;

const isStillHeld = isHeldBy(sql`given.holder`);

export interface EndedTask {
  readonly claim: Claim;
  readonly settlement: EndSettlement;
}

export interface Keep {
  readonly okMs: number;
  readonly failedMs: number;
}

/**
 * Moves ended tasks to the operations and counts them. Returns the ids that moved. The other tasks
 * have another claim now, and do not change.
 */
export async function endTasks(db: Db, tasks: readonly EndedTask[], keep: Keep): Promise<string[]> {
  if (tasks.length === 0) return [];
  // Most tasks end well without an output: PostgreSQL reads four arrays faster than objects.
  const ids = tasks.map(({ claim }) => claim.id);
  const fences = tasks.map(({ claim }) => claim.fence);
  const holders = tasks.map(({ claim }) => claim.holder);
  const more = tasks.map(moreOf);
  const last = sql`case reason when 'attempts' then 'error' else reason end`;
  const rows = await rowsOf<{ id: string }>(db)`${prepared}
    with given as materialized (
      select id, fence, holder, more ->> 'output' as output, more ->> 'reason' as reason, more ->> 'message' as message
      from unnest(${ids}::uuid[], ${fences}::bigint[], ${holders}::text[], ${more}::jsonb[]) as rows(id, fence, holder, more)
    ),
    gone as (
      delete from tasks using given
      where tasks.id = any (array(select id from given)) and tasks.id = given.id and ${isStillHeld}
      returning tasks.*, given.output, given.reason, given.message
    ),
    ended as (
      insert into operations (${CARRIED}, status, failures, expires_at, output, failure_reason, failure_message)
      select ${CARRIED},
             case when reason is null then 'OK' else 'ERROR' end,
             case when reason is null then failures else ${withFailure(last, sql`message`)} end,
             now() + case when reason is null then ${milliseconds(keep.okMs)} else ${milliseconds(keep.failedMs)} end,
             output::jsonb, reason, message
      from gone
      returning id, kind, status, failure_reason
    ),
    counted as (${countEnded(sql`ended`)})
    select id from ended`;
  return rows.map(({ id }) => id);
}

/** The fields beyond the claim as JSON text; null if there are none. */
function moreOf({ settlement }: EndedTask): string | null {
  if (settlement.to === 'ok')
    return settlement.output === undefined ? null : jsonText({ output: settlement.output });
  const { reason, message } = settlement;
  return jsonText({ reason, message });
}

export type RequeuedTask = Claim &
  Pick<Extract<Settlement, { to: 'queued' }>, 'delayMs' | 'failure'>;

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
  db: Db,
  tasks: readonly RequeuedTask[],
  keepOkMs: number,
): Promise<string[]> {
  if (tasks.length === 0) return [];
  const given = tasks.map(({ failure, ...task }) => ({ ...task, ...failure }));
  const rows = await rowsOf<{ id: string }>(db)`
    with ours as materialized (
      select tasks.kind, tasks.subject_type, tasks.subject_id, given.*
      from tasks join jsonb_to_recordset(${jsonText(given)}::jsonb)
        as given(id uuid, fence bigint, holder text, "delayMs" double precision, reason text, message text) using (id)
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
        attempt = tasks.attempt - case when ours.reason in ('error', 'timeout') then 0 else 1 end,
        failures = case when ours.reason is null then failures else ${withFailure(sql`ours.reason`, sql`ours.message`)} end,
        due_at = least(now() + ${milliseconds(sql`ours."delayMs"`)}, merged.due_at),
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
    select id, case when due_at <= now() then pg_notify(current_schema() || '_task_event', kind) end from requeued`;
  return rows.map(({ id }) => id);
}
