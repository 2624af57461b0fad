import type { TaskFailure } from '@paddock/db/schema/columns';
import { allOf, has } from '@paddock/db/newest-first';
import { onlyRowOf, rowsOf } from '@paddock/db/rows';
import type { Db, Trx } from '@paddock/db/schema/tables';
import { SWEEPS } from '@paddock/domain/tasks/sweep-names';
import { jsonText } from '@paddock/domain/text/storable';
import { type RawBuilder, sql } from 'kysely';
import type { AskedTask } from './enqueue.ts';

/** How one run failed. */
export type FailureKind = TaskFailure['reason'];

/** Why a task ended as failed. */
export type FailureReason = 'poison' | 'attempts' | 'crashes' | 'timeout' | 'cancelled';

/**
 * SQL over a row of tasks: its failures with one more, the last ten. Consecutive snoozes share an
 * entry, so that a long wait does not push out errors.
 */
export const withFailure = (
  reason: RawBuilder<unknown>,
  message: RawBuilder<unknown>,
): RawBuilder<TaskFailure[]> => sql`jsonb_path_query_array(
  case when ${reason} = 'snooze' and failures -> -1 ->> 'reason' = 'snooze' then failures - (-1) else failures end
    || jsonb_build_array(jsonb_build_object('attempt', attempt, 'at', now(), 'reason', ${reason}, 'message', ${message})),
  '$[last - 9 to last]')`;

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
  trx: Trx,
  { kind, subject, requestedBy }: Pick<AskedTask, 'kind' | 'subject' | 'requestedBy'>,
  output: object,
): Promise<string> {
  const { id } = await onlyRowOf<{ id: string }>(trx)`
    with ended as (
      insert into operations (id, kind, subject_type, subject_id, payload, origin, requested_by, status, attempt, max_attempts, crashes, failures,
        queued_at, started_at, expires_at, output)
      values (gen_random_uuid(), ${kind}, ${subject.type}, ${subject.id}, '{}', 'MANUAL', ${requestedBy}, 'OK', 1, 1, 0, '[]',
        now(), now(), now() + interval '1 day', ${jsonText(output)}::jsonb)
      returning id, kind, status, failure_reason
    ),
    counted as (${countEnded(sql`ended`)})
    select id from ended`;
  return id;
}

/**
 * Deletes expired operations, oldest first, at most `batch`. Returns how many; fewer than `batch`
 * means that none is left. Any number of processes may do this at once. Keeps the counts per hour.
 */
export async function purgeOperations(db: Db, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from operations where id = any (array(
      select id from operations where expires_at < now() order by expires_at limit ${batch} for update skip locked))
    returning 1 as gone`.execute(db);
  return rows.length;
}

/** Which failed operations are meant: one, or the newest of those that fit. */
export type FailedFilter = { readonly id: string } | OperationFilter;

export interface OperationFilter {
  readonly subject?: { readonly type: string; readonly id: string } | undefined;
  readonly kind?: string | undefined;
  /** Why it failed. */
  readonly reason?: string | undefined;
  /** Ended from here on. */
  readonly from?: Date | undefined;
  /** Ended before. */
  readonly to?: Date | undefined;
}

/** A failed operation that no person has dealt with: all that it takes to repeat it. */
export interface FailedOperation {
  readonly id: string;
  readonly kind: string;
  readonly subject: { readonly type: string; readonly id: string; readonly name?: string };
  readonly payload: object;
  readonly maxAttempts: number;
  readonly deliveryGuid: string | null;
  /** Its sweep is paused: repeated, it would end without having done anything. */
  readonly isPaused: boolean;
}

/** SQL: a person holds the operation's sweep back. Of dry runs nothing is paused. */
const IS_PAUSED = sql<boolean>`(kind = any(${SWEEPS}::text[]) and subject_type <> 'dry-run' and exists (
  select from switches held where held.subject_type = 'sweep' and held.subject_id in ('', kind, kind || ':' || operations.subject_id)))`;

/**
 * Locks failed operations for a person who retries or discards them, at most `limit`. Those of paused
 * sweeps come last, so that the limit leaves room for others. Waits for another person who has one of
 * them. Returns them in the order in which enqueuers lock tasks.
 */
export const lockFailed = (trx: Trx, filter: FailedFilter, limit: number) =>
  rowsOf<FailedOperation>(trx)`
    with failed as (
      select *, ${IS_PAUSED} as is_paused from operations where ${isFailed(filter)}
      order by is_paused, finished_at desc, id desc limit ${limit} for no key update
    )
    select id, kind, payload, max_attempts as "maxAttempts", delivery_guid as "deliveryGuid", is_paused as "isPaused",
      json_strip_nulls(json_build_object('type', subject_type, 'id', subject_id, 'name', subject_name)) as subject
    from failed order by kind, subject_type, subject_id, id`;

/** SQL: the filter names the operation. It has failed, and no person has retried or discarded it. */
const isFailed = (filter: FailedFilter): RawBuilder<boolean> =>
  allOf(
    sql`status = 'ERROR' and handled_at is null and expires_at > now()`,
    'id' in filter ? sql`id = ${filter.id}::uuid` : isOperation(filter),
  );

/** SQL: an ended operation fits the filter. */
export const isOperation = ({ subject, kind, reason, from, to }: OperationFilter) =>
  allOf(
    subject && sql`subject_id = ${subject.id} and subject_type = ${subject.type}`,
    has('kind', kind),
    has('failure_reason', reason),
    from && sql`finished_at >= ${from}`,
    to && sql`finished_at < ${to}`,
  );

/** What a person made of a failed operation: repeated as another one, or (null) discarded. */
export interface Handled {
  readonly id: string;
  readonly retriedAs: string | null;
}

/** Notes who dealt with failed operations that `lockFailed` has locked. */
export async function noteHandled(
  trx: Trx,
  handled: readonly Handled[],
  by: string,
): Promise<void> {
  if (handled.length === 0) return;
  await sql`
    update operations set handled_by = ${by}, handled_at = now(), retried_as = given."retriedAs"
    from jsonb_to_recordset(${JSON.stringify(handled)}::jsonb) as given(id uuid, "retriedAs" uuid)
    where operations.id = given.id`.execute(trx);
}

/** How many operations of one kind ended in one way within one step of time. */
export interface TaskCount {
  /** When the step began, in UTC. */
  readonly from: Date;
  readonly kind: string;
  readonly outcome: 'OK' | 'ERROR';
  readonly failureReason: FailureReason | null;
  readonly ended: number;
}

export interface CountsRange {
  /** Hours that begin here or later. */
  readonly from: Date;
  /** Hours that begin before. */
  readonly to: Date;
  readonly step: 'hour' | 'day';
  readonly kind?: string;
}

/** The counts of a range, oldest first, rolled up or not. */
export const readTaskCounts = (db: Db, { from, to, step, kind }: CountsRange) =>
  rowsOf<TaskCount>(db)`
    select date_trunc(${step}::text, hour, 'UTC') as "from", kind, outcome, failure_reason as "failureReason", sum(ended)::bigint as ended
    from task_counts
    where hour >= ${from} and hour < ${to} and (${kind ?? null}::text is null or kind = ${kind ?? null}::text)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4`;

/** A year can be compared with the one before. */
const KEEP_MONTHS = 13;

/**
 * Older hours have one row each by now. If no sweep ran for so long, they keep many; the sums hold.
 */
const SCATTERED_DAYS = 7;

/**
 * Joins the rows that settling appended to each past hour into one, and removes those older than
 * `KEEP_MONTHS`. The sums are right at any instant: two passes never take the same row, and the
 * next pass adds late rows.
 */
export const rollUpTaskCounts = (db: Db) =>
  onlyRowOf<{ merged: number; removed: number }>(db)`
    with old as (
      delete from task_counts where hour < now() - make_interval(months => ${KEEP_MONTHS}::integer) returning 1 as one
    ),
    scattered as (
      select hour, kind, outcome, failure_reason from task_counts
      where hour < date_trunc('hour', now(), 'UTC')
        and hour >= greatest(now() - make_interval(months => ${KEEP_MONTHS}::integer), now() - make_interval(days => ${SCATTERED_DAYS}))
      group by hour, kind, outcome, failure_reason having count(*) > 1
    ),
    taken as (
      delete from task_counts c using scattered s
      where c.hour = s.hour and c.kind = s.kind and c.outcome = s.outcome and c.failure_reason is not distinct from s.failure_reason
      returning c.*
    ),
    summed as (
      insert into task_counts (hour, kind, outcome, failure_reason, ended)
      select hour, kind, outcome, failure_reason, sum(ended) from taken group by hour, kind, outcome, failure_reason
    )
    select (select count(*) from taken) as merged, (select count(*) from old) as removed`;
