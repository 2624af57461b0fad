import { prepared } from '@paddock/db/connection/prepared';
import { isTooFarAhead, LEASE } from '@paddock/db/instants';
import { milliseconds } from '@paddock/db/milliseconds';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { type RawBuilder, sql } from 'kysely';
import type { Task } from './kind.ts';
import { CARRIED, countEnded, withFailure } from './operations.ts';

/**
 * A claim lasts until `locked_until`, by PostgreSQL's clock. With 15 s:
 * - the holder renews it every 3 s;
 * - the holder interrupts its run 10 s after the last renewal;
 * - others take over after 15 s.
 *
 * A holder interrupts its run before others may take over: its clock starts when it sends the
 * renewal, theirs when PostgreSQL writes it.
 */
const LONGEST_BEAT_MS = 3_000;

/** How often a holder renews its claims, and looks for expired ones of others, in milliseconds. */
export const beatMs = (claimMs: number): number => Math.min(LONGEST_BEAT_MS, claimMs / 5);

/** The least share of a claim that must be left for a run to go on. */
export const ENOUGH_LEFT = 1 / 3;

/** The share of a claim that is left `ageMs` after its renewal was sent, from 1 down to 0. */
export const shareLeft = (ageMs: number, claimMs: number): number =>
  Math.max(0, 1 - ageMs / claimMs);

/** SQL over a row of tasks: its claim has expired, or is void. */
export const isExpired = sql`(tasks.locked_until < now() or ${isTooFarAhead(sql`tasks.locked_until`, LEASE)})`;

export interface ClaimOptions {
  /** The claiming process. */
  readonly holder: string;
  /** How long the claims last, in milliseconds. */
  readonly claimMs: number;
  /** Free slots by kind. Other kinds are not claimed. */
  readonly slots: Readonly<Record<string, number>>;
  /** Whether to take over expired claims of other executors. */
  readonly takeOver: boolean;
  /** How long to keep the operation of a task that ends here after too many crashes. */
  readonly keepFailedMs: number;
}

export interface ClaimedTask extends Omit<Task, 'subject' | 'claimLeft'> {
  readonly subjectType: string;
  readonly subjectId: string;
  readonly subjectName: string | null;
  /** Taken over from an executor that went away. */
  readonly takenOver: boolean;
  /** It crashed too often: it is a failed operation now, and not claimed. */
  readonly ended: boolean;
}

/** How many crashes of its executors a task survives. */
export const MOST_CRASHES = 3;

const CRASH_MESSAGE =
  'its executor stopped renewing the claim: the process died, hung, or lost PostgreSQL';

/**
 * Claims due tasks: expired claims first, then queued tasks, oldest due first. Each kind fills its
 * own free slots, so no kind waits for another. Concurrent claimers take distinct rows.
 */
export async function claimTasks(
  db: Db,
  { slots, takeOver, ...claim }: ClaimOptions,
): Promise<ClaimedTask[]> {
  const taken = takeOver ? await takeOverTasks(db, expiredOf(wantedOf(slots)), claim) : [];
  const left = { ...slots };
  for (const { kind, ended } of taken) if (!ended) left[kind] = (left[kind] ?? 0) - 1;
  return [...taken, ...(await claimDue(db, wantedOf(left), claim))];
}

/** SQL: rows of kind and free slots. */
function wantedOf(slots: ClaimOptions['slots']): RawBuilder<unknown> {
  const wanted = Object.entries(slots).flatMap(([kind, free]) =>
    free > 0 ? [{ kind, slots: free }] : [],
  );
  return sql`(select kind, slots from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as given(kind text, slots integer)) wanted`;
}

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
  'id, kind, subject_type as "subjectType", subject_id as "subjectId", subject_name as "subjectName", payload, attempt, max_attempts as "maxAttempts", crashes, delivery_guid as "deliveryGuid"',
);

const claimDue = (
  db: Db,
  wanted: RawBuilder<unknown>,
  { holder, claimMs }: Pick<ClaimOptions, 'holder' | 'claimMs'>,
) =>
  rowsOf<ClaimedTask>(db)`${prepared}
    update tasks set
      status = 'running', locked_by = ${holder}, locked_until = now() + ${milliseconds(claimMs)}, started_at = now(), fence = fence + 1,
      attempt = attempt + 1
    where id = any (array(
      select waiting.id from ${wanted} cross join lateral (
        select id from tasks queued
        where status = 'queued' and kind = wanted.kind and due_at <= now()
          and not exists (${TWIN})
        order by due_at limit wanted.slots for update skip locked
      ) waiting))
    returning ${COLUMNS}, fence, false as "takenOver", false as ended`;

const expiredOf = (wanted: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select held.* from ${wanted} cross join lateral (
    select id, crashes >= ${MOST_CRASHES} as spent from tasks
    where status = 'running' and kind = wanted.kind and ${isExpired}
    order by locked_until limit wanted.slots for update skip locked
  ) held`;

/**
 * Claims tasks whose claim has expired, and ends those that have crashed too often. `expired` is a
 * SELECT that locks them.
 */
export async function takeOverTasks(
  db: Db,
  expired: RawBuilder<unknown>,
  { holder, claimMs, keepFailedMs }: Omit<ClaimOptions, 'slots' | 'takeOver'>,
): Promise<ClaimedTask[]> {
  const crash = withFailure(sql`'crash'`, sql`${CRASH_MESSAGE}::text`);
  return rowsOf<ClaimedTask>(db)`${prepared}
    with expired as materialized (${expired}),
    spent as (
      delete from tasks where id = any (array(select id from expired where spent)) returning *
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
        locked_by = ${holder}, locked_until = now() + ${milliseconds(claimMs)}, started_at = now(), fence = fence + 1,
        crashes = crashes + 1, failures = ${crash}
      where id = any (array(select id from expired where not spent))
      returning *
    )
    select ${COLUMNS}, fence, true as "takenOver", false as ended from taken
    union all
    select ${COLUMNS}, 0, true, true from ended`;
}

/** The task as its handler sees it. */
export const taskOf = (
  { subjectType: type, subjectId: id, subjectName: name, ...row }: ClaimedTask,
  claimLeft: () => number,
): Task => ({ ...row, subject: { type, id, name }, claimLeft });

/**
 * In how many milliseconds, by PostgreSQL's clock, the next queued task of these kinds is due, or
 * undefined if none waits. Ignores due tasks: their twin runs, or another transaction locks them.
 */
export async function nextDueInMs(db: Db, kinds: readonly string[]): Promise<number | undefined> {
  const rows = await rowsOf<{ ms: number | null }>(db)`${prepared}
    select ceil(extract(epoch from min(next.due_at) - now()) * 1000)::double precision as ms
    from jsonb_array_elements_text(${JSON.stringify(kinds)}::jsonb) as wanted(kind) cross join lateral (
      select due_at from tasks where status = 'queued' and kind = wanted.kind and due_at > now() order by due_at limit 1
    ) next`;
  return rows[0]?.ms ?? undefined;
}
