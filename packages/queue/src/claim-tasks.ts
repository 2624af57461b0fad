import { prepared } from '@paddock/db/connection/prepared';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { withFailure } from './failures.ts';
import { isAbandoned, hasSession } from './claim-expiry.ts';
import { CARRIED, countEnded } from './operations.ts';
import type { Task } from './task.ts';
import { milliseconds } from '@paddock/db/milliseconds';

export interface ClaimOptions {
  /** Who claims, unique per process; from `holderName`. */
  readonly holder: string;
  /** Free slots by kind. No more are taken, and no others. */
  readonly slots: Readonly<Record<string, number>>;
  /** Whether tasks of others that may be taken over are. */
  readonly takeOver: boolean;
  /** How long an operation is kept that ends here because its executors crashed too often. */
  readonly keepFailedMs: number;
}

export interface ClaimedTask {
  id: string;
  kind: string;
  subject_type: string;
  subject_id: string;
  subject_name: string | null;
  payload: unknown;
  attempt: number;
  max_attempts: number;
  crashes: number;
  delivery_guid: string | null;
  fence: number;
  /** Another executor had it and went away. */
  taken_over: boolean;
  /** It was taken over once too often: it has become a failed operation and is not ours. */
  ended: boolean;
}

export const CRASH_MESSAGE = 'its executor stopped renewing the claim: the process died, hung, or lost PostgreSQL';

/**
 * Takes what is due: first the tasks whose executors went away, then queued ones, oldest due first, of each kind as many as it has free slots,
 * so that no kind waits for another. One statement: N claimers at once take N distinct rows (D2, D5, D11).
 */
export async function claimTasks(db: Kysely<Database>, options: ClaimOptions): Promise<ClaimedTask[]> {
  const wanted = Object.entries(options.slots).flatMap(([kind, slots]) => (slots > 0 ? [{ kind, slots }] : []));
  if (wanted.length === 0) return [];
  const rows = sql`select kind, slots from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as given(kind text, slots integer)`;
  return options.takeOver ? claimStaleAndDue(db, rows, options) : claimDue(db, rows, options.holder);
}

/** The ids of what is due, from `wanted`, of each kind at most `slots`, an SQL expression. */
const dueTasks = (slots: RawBuilder<unknown>): RawBuilder<unknown> => sql`cross join lateral (
    select id from tasks queued
    where status = 'queued' and kind = wanted.kind and due_at <= now()
      and not exists (${TWIN})
    order by due_at limit ${slots} for update skip locked
  ) waiting`;

/**
 * The same subject's task of the same kind that runs. `offset 0` keeps this one look into tasks_running_once for each row that is due,
 * where the planner would sometimes rather join all that is due with all that runs.
 */
const TWIN = sql`
  select from tasks twin
  where twin.subject_type = queued.subject_type and twin.subject_id = queued.subject_id and twin.kind = queued.kind and twin.status = 'running'
  offset 0`;

const COLUMNS = sql.raw('id, kind, subject_type, subject_id, subject_name, payload, attempt, max_attempts, crashes, delivery_guid');

/** Without a look at others' claims, which is most of the time: planned in a fraction of the time, and so started sooner. */
async function claimDue(db: Kysely<Database>, wanted: RawBuilder<unknown>, holder: string): Promise<ClaimedTask[]> {
  const { rows } = await sql<ClaimedTask>`${prepared}
    update tasks set
      status = 'running', locked_by = ${holder}, locked_at = now(), started_at = now(), held_by = null, fence = fence + 1,
      attempt = attempt + 1
    where id = any (array(select waiting.id from (${wanted}) wanted ${dueTasks(sql`wanted.slots`)}))
    returning ${COLUMNS}, fence, false as taken_over, false as ended`.execute(db);
  return rows;
}

async function claimStaleAndDue(db: Kysely<Database>, wanted: RawBuilder<unknown>, options: ClaimOptions): Promise<ClaimedTask[]> {
  const { holder, keepFailedMs } = options;
  const crash = withFailure({ failures: sql`failures`, attempt: sql`attempt`, reason: sql`'crash'`, message: sql`${CRASH_MESSAGE}::text` });
  const { rows } = await sql<ClaimedTask>`${prepared}
    with wanted as materialized (${wanted}),
    looker as materialized (select ${hasSession(sql`${holder}::text`)} as has_session),
    stale as materialized (
      select held.* from wanted cross join lateral (
        select id, kind, crashes >= max_crashes as spent from tasks
        where status = 'running' and kind = wanted.kind and ${isAbandoned(sql`(select has_session from looker)`)}
        order by locked_at limit wanted.slots for update skip locked
      ) held
    ),
    due as materialized (
      select waiting.id from wanted
      left join (select kind, count(*) as taken from stale where not spent group by kind) first using (kind)
      ${dueTasks(sql`wanted.slots - coalesce(first.taken, 0)`)}
    ),
    spent as (
      delete from tasks where id = any (array(select id from stale where spent)) returning *
    ),
    ended as (
      insert into operations (${CARRIED}, status, failures, expires_at, failure_reason, failure_message)
      select ${sql.raw('id, kind, subject_type, subject_id, subject_name, payload, origin, requested_by, delivery_guid, attempt - 1, max_attempts, crashes + 1, queued_at, started_at')},
             'ERROR', ${crash}, now() + ${milliseconds(keepFailedMs)}, 'crashes', ${CRASH_MESSAGE}
      from spent
      returning *
    ),
    counted as (${countEnded(sql`ended`)}),
    taken as (
      update tasks set
        status = 'running', locked_by = ${holder}, locked_at = now(), started_at = now(), held_by = null, fence = fence + 1,
        attempt = attempt + case status when 'queued' then 1 else 0 end,
        crashes = crashes + case status when 'running' then 1 else 0 end,
        failures = case status when 'running' then ${crash} else failures end
      where id = any (array(select id from stale where not spent union all select id from due))
      returning *
    )
    select ${COLUMNS}, fence, id = any (array(select id from stale)) as taken_over, false as ended
    from taken
    union all
    select ${COLUMNS}, 0, true, true
    from ended`.execute(db);
  return rows;
}

/** The task that its handler gets. */
export const taskOf = (row: ClaimedTask, claimLeft: () => number): Task => ({
  id: row.id,
  kind: row.kind,
  subject: { type: row.subject_type, id: row.subject_id, name: row.subject_name },
  payload: row.payload,
  attempt: row.attempt,
  maxAttempts: row.max_attempts,
  crashes: row.crashes,
  deliveryGuid: row.delivery_guid,
  fence: row.fence,
  claimLeft,
});
