import { prepared } from '@paddock/db/connection/prepared';
import { milliseconds } from '@paddock/db/milliseconds';
import { onlyRowOf, rowsOf } from '@paddock/db/rows';
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
  /** How many crashes of its executor a task survives; 3 if absent. */
  readonly maxCrashes?: number;
  readonly origin?: 'MANUAL' | 'AUTOMATIC';
  readonly requestedBy?: string;
  readonly deliveryGuid?: string;
}

export const DEFAULT_MAX_ATTEMPTS = 5;
const DEFAULT_MAX_CRASHES = 3;

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
  write(trx, tasks);

/** Enqueues in a transaction of its own, in one round trip to PostgreSQL. */
export const enqueueAlone = (db: Db, tasks: readonly NewTask[]): Promise<Enqueued[]> =>
  write(db, tasks);

async function write(db: Db, tasks: readonly NewTask[]): Promise<Enqueued[]> {
  if (tasks.length === 0) return [];
  const given = sql`jsonb_to_recordset(${jsonText(oncePerSubject(tasks))}::jsonb) as given(
    kind text, subject jsonb, payload jsonb, origin text, "requestedBy" text, "deliveryGuid" text,
    "maxAttempts" integer, "maxCrashes" integer, "dueInMs" double precision)`;
  // Sorted: two enqueuers of the same tasks cannot deadlock. `do update … where` locks the existing
  // row, without a change unless the payloads need to be merged, or the new task is due earlier. If a claim takes it during the
  // wait, PostgreSQL inserts after all. A changed row is found by the next statement, which is why
  // it must not count as inserted.
  const inserted = await rowsOf<{ id: string; changed: boolean }>(db)`${prepared}
    insert into tasks (kind, subject_type, subject_id, subject_name, payload, origin, requested_by, delivery_guid,
                       max_attempts, max_crashes, due_at)
    select kind, subject ->> 'type', subject ->> 'id', subject ->> 'name', coalesce(payload, '{}'), coalesce(origin, 'AUTOMATIC'),
           "requestedBy", "deliveryGuid",
           coalesce("maxAttempts", ${DEFAULT_MAX_ATTEMPTS}::integer), coalesce("maxCrashes", ${DEFAULT_MAX_CRASHES}::integer),
           now() + ${milliseconds(sql`coalesce("dueInMs", 0)`)}
    from ${given}
    order by kind, subject ->> 'type', subject ->> 'id'
    on conflict (subject_id, subject_type, kind) where status = 'queued' do update
      set payload = ${mergedPayload('tasks', 'excluded')}, due_at = case when ${IS_NEW} then least(tasks.due_at, excluded.due_at) else tasks.due_at end
      where ${areMerged('tasks', 'excluded')} or (${IS_NEW} and tasks.due_at > excluded.due_at)
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

/** SQL: no run has put the queued task off: only its enqueuer has said when it is due. */
const IS_NEW = sql`tasks.failures = '[]'`;

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
  trx: Trx,
  { kind, subject, payload = {}, requestedBy, deliveryGuid, ...limits }: AskedTask,
): Promise<string> {
  const { maxAttempts = DEFAULT_MAX_ATTEMPTS, maxCrashes = DEFAULT_MAX_CRASHES } = limits;
  // The insert trigger wakes executors for a new task, and this statement for one that was queued.
  const { id } = await onlyRowOf<{ id: string }>(trx)`${prepared}
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
    select id, case when due_at <= now() then pg_notify(current_schema() || '_task_event', kind) end from asked`;
  return id;
}

/** Makes queued tasks due now and wakes their executors when the caller commits. */
export async function bringForward(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with brought as (
      update tasks set due_at = now()
      where id = any(${ids}::uuid[]) and status = 'queued' and due_at > now()
      returning kind
    )
    select pg_notify(current_schema() || '_task_event', kind) from brought`.execute(trx);
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
