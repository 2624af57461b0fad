import { prepared } from '@paddock/db/connection/prepared';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { withFailure } from './failures.ts';
import { isAbandoned, hasSession } from './claim-expiry.ts';
import { CARRIED, countEnded } from './operations.ts';
import type { Task } from './task.ts';
import { milliseconds } from '@paddock/db/milliseconds';

export interface ClaimOptions {
  /** The claiming process; from `holderName`. */
  readonly holder: string;
  /** Free slots by kind. Other kinds are not claimed. */
  readonly slots: Readonly<Record<string, number>>;
  /** Whether to take over abandoned claims of other executors. */
  readonly takeOver: boolean;
  /** How long to keep the operation of a task that ends here after too many crashes. */
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
  /** Taken over from an executor that went away. */
  taken_over: boolean;
  /** It crashed too often: it is a failed operation now, and not claimed. */
  ended: boolean;
}

export const CRASH_MESSAGE =
  'its executor stopped renewing the claim: the process died, hung, or lost PostgreSQL';

/**
 * Claims due tasks: abandoned claims first, then queued tasks, oldest due first. Each kind fills
 * its own free slots, so no kind waits for another. One statement: concurrent claimers take
 * distinct rows.
 */
export async function claimTasks(
  db: Kysely<Database>,
  options: ClaimOptions,
): Promise<ClaimedTask[]> {
  const wanted = Object.entries(options.slots).flatMap(([kind, slots]) =>
    slots > 0 ? [{ kind, slots }] : [],
  );
  if (wanted.length === 0) return [];
  const rows = sql`select kind, slots from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as given(kind text, slots integer)`;
  return options.takeOver
    ? claimStaleAndDue(db, rows, options)
    : claimDue(db, rows, options.holder);
}

/**
 * The ids of due tasks of each kind in `wanted`, at most `slots` (an SQL expression) of one kind.
 */
const dueTasks = (slots: RawBuilder<unknown>): RawBuilder<unknown> => sql`cross join lateral (
    select id from tasks queued
    where status = 'queued' and kind = wanted.kind and due_at <= now()
      and not exists (${TWIN})
    order by due_at limit ${slots} for update skip locked
  ) waiting`;

/**
 * The running task of the same kind and subject. `offset 0` makes this one index probe of
 * tasks_running_once per due row. Without it the planner sometimes joins all due with all running
 * rows.
 */
const TWIN = sql`
  select from tasks twin
  where twin.subject_type = queued.subject_type and twin.subject_id = queued.subject_id and twin.kind = queued.kind and twin.status = 'running'
  offset 0`;

const COLUMNS = sql.raw(
  'id, kind, subject_type, subject_id, subject_name, payload, attempt, max_attempts, crashes, delivery_guid',
);

/** Ignores other executors' claims, as most calls do: planning takes a fraction of the time. */
async function claimDue(
  db: Kysely<Database>,
  wanted: RawBuilder<unknown>,
  holder: string,
): Promise<ClaimedTask[]> {
  const { rows } = await sql<ClaimedTask>`${prepared}
    update tasks set
      status = 'running', locked_by = ${holder}, locked_at = now(), started_at = now(), fence = fence + 1,
      attempt = attempt + 1
    where id = any (array(select waiting.id from (${wanted}) wanted ${dueTasks(sql`wanted.slots`)}))
    returning ${COLUMNS}, fence, false as taken_over, false as ended`.execute(db);
  return rows;
}

async function claimStaleAndDue(
  db: Kysely<Database>,
  wanted: RawBuilder<unknown>,
  options: ClaimOptions,
): Promise<ClaimedTask[]> {
  const { holder, keepFailedMs } = options;
  const crash = withFailure({
    failures: sql`failures`,
    attempt: sql`attempt`,
    reason: sql`'crash'`,
    message: sql`${CRASH_MESSAGE}::text`,
  });
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
        status = 'running', locked_by = ${holder}, locked_at = now(), started_at = now(), fence = fence + 1,
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

/** The task as its handler sees it. */
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
