import { prepared } from '@paddock/db/connection/prepared';
import { milliseconds } from '@paddock/db/milliseconds';
import { rowsOf } from '@paddock/db/rows';
import type { Db, Trx } from '@paddock/db/schema/tables';
import { jsonText } from '@paddock/domain/text/storable';
import { sql } from 'kysely';

/**
 * A task to enqueue. A queued task of the same kind and subject serves for this one too, at the
 * earlier of both times unless a run has put it off.
 */
export interface NewTask {
  readonly kind: string;
  /** What the task is about, e.g. `{ type: 'worker', id: podName }`; operations are found by it. */
  readonly subject: { readonly type: string; readonly id: string; readonly name?: string };
  /**
   * A JSON object of ids only: the handler reads what may change. Of two requests for one task with
   * `since`, an instant as text, the earlier one counts.
   */
  readonly payload?: object;
  /** How long the task waits before it is due, in milliseconds; at once if absent. */
  readonly dueInMs?: number;
  /** How many runs may fail; 5 if absent. */
  readonly maxAttempts?: number;
  /** The person who asks for it: it is MANUAL. */
  readonly requestedBy?: string;
  readonly deliveryGuid?: string;
}

export const DEFAULT_MAX_ATTEMPTS = 5;

export interface Enqueued {
  readonly id: string;
  /** The id is that of a task of the kind and subject that was queued before. */
  readonly existed: boolean;
}

/**
 * Enqueues in the caller's transaction; its commit wakes executors. Returns one entry per kind and
 * subject, in any order.
 *
 * Locks a queued task of the same kind and subject until the caller commits. A run that began
 * before the commit would not see what the caller wrote. A running task gets a successor.
 */
export const enqueue = (trx: Trx, tasks: readonly NewTask[]): Promise<Enqueued[]> =>
  write(trx, tasks, false);

/** The same; a queued task is due at the earlier time even if a run has put it off. */
export const enqueueUrgent = (trx: Trx, tasks: readonly NewTask[]): Promise<Enqueued[]> =>
  write(trx, tasks, true);

/** Enqueues in a transaction of its own, in one round trip to PostgreSQL. */
export const enqueueAlone = (db: Db, tasks: readonly NewTask[]): Promise<Enqueued[]> =>
  write(db, tasks, false);

async function write(db: Db, tasks: readonly NewTask[], isUrgent: boolean): Promise<Enqueued[]> {
  if (tasks.length === 0) return [];
  const given = sql`jsonb_to_recordset(${jsonText(oncePerSubject(tasks))}::jsonb) as given(
    kind text, subject jsonb, payload jsonb, "requestedBy" text, "deliveryGuid" text, "maxAttempts" integer, "dueInMs" double precision)`;
  // Unless it is urgent, only a task that no run has put off: then its enqueuer has said when it is due.
  const isSooner = sql`((${isUrgent}::boolean or tasks.failures = '[]') and excluded.due_at < tasks.due_at)`;
  const isAsked = sql`(excluded.origin = 'MANUAL' and tasks.requested_by is null)`;
  // Sorted: two enqueuers of the same tasks cannot deadlock. `do update … where` locks the existing
  // row, without a change unless the new task says more. If a claim takes it during the wait,
  // PostgreSQL inserts after all. A changed row is found by the next statement, which is why
  // it must not count as inserted.
  const inserted = await rowsOf<{ id: string; changed: boolean }>(db)`${prepared}
    insert into tasks (kind, subject_type, subject_id, subject_name, payload, origin, requested_by, delivery_guid, max_attempts, due_at)
    select kind, subject ->> 'type', subject ->> 'id', subject ->> 'name', coalesce(payload, '{}'),
           case when "requestedBy" is null then 'AUTOMATIC' else 'MANUAL' end, "requestedBy", "deliveryGuid",
           coalesce("maxAttempts", ${DEFAULT_MAX_ATTEMPTS}::integer), now() + ${milliseconds(sql`coalesce("dueInMs", 0)`)}
    from ${given}
    order by kind, subject ->> 'type', subject ->> 'id'
    on conflict (subject_id, subject_type, kind) where status = 'queued' do update
      set payload = ${mergedPayload('tasks', 'excluded')}, due_at = case when ${isSooner} then excluded.due_at else tasks.due_at end,
        origin = case when ${isAsked} then 'MANUAL' else tasks.origin end, requested_by = coalesce(tasks.requested_by, excluded.requested_by)
      where ${areMerged('tasks', 'excluded')} or ${isSooner} or ${isAsked}
    returning id, xmax <> 0 as changed`;
  const made = inserted.filter(({ changed }) => !changed).map(({ id }) => id);
  const answer = made.map((id) => ({ id, existed: false }));
  if (answer.length === tasks.length) return answer;
  // An executor that claimed while we held the lock has skipped the task: wake it again.
  const found = await rowsOf<{ id: string }>(db)`
    select id, case when due_at <= now() then pg_notify(current_schema() || '_task_event', tasks.kind) end
    from tasks join ${given} on tasks.kind = given.kind and subject_type = subject ->> 'type' and subject_id = subject ->> 'id'
    where status = 'queued' and id <> all (${made}::uuid[])`;
  return [...answer, ...found.map(({ id }) => ({ id, existed: true }))];
}

/** One task per kind and subject: the first, due at the earliest instant. */
function oncePerSubject(tasks: readonly NewTask[]): object[] {
  const once = new Map<string, NewTask>();
  for (const task of tasks) {
    const { kind, subject, dueInMs = 0 } = task;
    const key = JSON.stringify([kind, subject.type, subject.id]);
    const first = once.get(key) ?? task;
    once.set(key, dueInMs < (first.dueInMs ?? 0) ? { ...first, dueInMs } : first);
  }
  // JSON turns NaN and Infinity into null, the default. As text PostgreSQL refuses them (22P02).
  return [...once.values()].map(({ dueInMs = 0, ...task }) =>
    Object.assign(task, {
      dueInMs: Number.isFinite(dueInMs) ? dueInMs : `${dueInMs} is no time`,
    }),
  );
}

/** A task that a person asks for. It is due at once. */
export interface AskedTask extends Omit<NewTask, 'dueInMs'> {
  readonly requestedBy: string;
}

/**
 * Enqueues what a person asked for, in the caller's transaction. A queued task of the same kind and
 * subject serves for this request too. It becomes MANUAL and keeps who asked for it first. It is due
 * now. Returns the id of the task that serves.
 */
export async function enqueueAsked(trx: Trx, task: AskedTask): Promise<string> {
  const [asked] = await enqueueUrgent(trx, [task]);
  if (asked === undefined) throw new Error('The task that was asked for is not in the queue.');
  return asked.id;
}

/**
 * SQL for two requests of one task, rows of `tasks` by these names: a payload that serves both. If
 * the other has `since`, the first one's with the earlier instant. Else the first one's: payloads
 * hold ids, and requests for one subject need the same. Instants are compared as text, as
 * programs write them; one by hand that is no instant must not stop the queue.
 */
export const mergedPayload = (one: string, other: string) => {
  const [a, b] = [sql.ref(`${one}.payload`), sql.ref(`${other}.payload`)];
  return sql`case when ${areMerged(one, other)} then ${a} || jsonb_build_object('since', least(${a} ->> 'since' collate "C", ${b} ->> 'since' collate "C")) else ${a} end`;
};

/** SQL: such a payload differs from the first one's. */
const areMerged = (one: string, other: string) => {
  const [a, b] = [sql.ref(`${one}.payload`), sql.ref(`${other}.payload`)];
  return sql`(${b} ? 'since' and ${a} <> ${b})`;
};
