import { sql } from 'kysely';
import { NOW } from '../milliseconds.ts';
import { rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';

/** What a pass leaves for the next one of its schedule. */
export interface PassMemory {
  /**
   * Objects that failed, by a name: how many times in a row, since when, and when each is due
   * again, in milliseconds since 1970 by PostgreSQL's clock.
   */
  readonly failing: Readonly<
    Record<string, { readonly times: number; readonly since: number; readonly dueAt: number }>
  >;
  /** How many passes in a row have not reached an entity, by its id. */
  readonly unreached: Readonly<Record<string, number>>;
  /** What each list of a sweep has shown without a break, by its name, and since when. */
  readonly seen: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** What the last pass left, and PostgreSQL's time; nothing without such a schedule. */
export async function findPassMemory(
  db: Db,
  schedule: string,
): Promise<PassMemory & { readonly now: number }> {
  const { now, memory } = await db
    .selectNoFrom(({ selectFrom }) => [
      sql<number>`extract(epoch from now())::float8 * 1000`.as('now'),
      selectFrom('schedules')
        .select('last_pass')
        .where('name', '=', schedule)
        .$castTo<{ memory: Partial<PassMemory> }>()
        .as('memory'),
    ])
    .executeTakeFirstOrThrow();
  return { failing: {}, unreached: {}, seen: {}, ...memory, now };
}

export interface PassToNote {
  readonly memory: PassMemory;
  readonly isSuccess: boolean;
  /** The claim on its task. */
  readonly task: { readonly id: string; readonly fence: number };
}

/**
 * Stores what a pass of this schedule leaves, and whether it succeeded. Changes nothing if its task
 * is another's by now: the next pass may have left more.
 */
export async function notePass(
  db: Db,
  schedule: string,
  { memory, isSuccess, task: { id, fence } }: PassToNote,
): Promise<void> {
  await db
    .updateTable('schedules')
    .set({ last_pass: JSON.stringify(memory), ...(isSuccess && { succeeded_at: NOW }) })
    .where('name', '=', schedule)
    .where(
      sql<boolean>`exists (select from tasks where id = ${id}::uuid and fence = ${fence} and status = 'running')`,
    )
    .execute();
}

/** A pass that missed an entity may have come to its end; two in a row are a sign of trouble. */
const MISSED_IN_A_ROW = 2;

/** Whether passes have missed an entity twice running. */
export const hasMissed = ({ unreached }: PassMemory): boolean =>
  Object.values(unreached).some((passes) => passes >= MISSED_IN_A_ROW);

/** A schedule, and which task it enqueues. */
export interface ScheduledSweep {
  readonly name: string;
  readonly kind: string;
  readonly subjectId: string;
}

/**
 * The state of a schedule: when a pass last succeeded, and what happened since. Ages in seconds.
 */
export interface SweepState {
  readonly name: string;
  /** Before its first pass, since its first tick. */
  readonly secondsSinceSuccess: number;
  readonly secondsSinceTick: number;
  /** Entities that two passes running have not reached. */
  readonly missed: number;
  readonly pausedBy: string | null;
  /** How long its task has run or waited, and its last try's error; null: no task. */
  readonly runningSeconds: number | null;
  readonly dueSeconds: number | null;
  readonly retryMessage: string | null;
  /** The error of the newest pass that was given up since the last success. */
  readonly failureMessage: string | null;
}

/** The states of these schedules; without those that never had a tick. */
export const findSweepStates = (db: Db, sweeps: readonly ScheduledSweep[]) =>
  rowsOf<SweepState>(db)`
    select s.name, extract(epoch from now() - s.succeeded_at)::float8 as "secondsSinceSuccess",
      extract(epoch from now() - s.last_tick_at)::float8 as "secondsSinceTick",
      (select count(*) from jsonb_each_text(s.last_pass -> 'unreached') where value::integer >= ${MISSED_IN_A_ROW}) as missed,
      (select switched_by from switches where subject_type = 'sweep' and subject_id in ('', given.kind, s.name) order by since limit 1) as "pausedBy",
      extract(epoch from now() - running.started_at)::float8 as "runningSeconds",
      extract(epoch from now() - queued.due_at)::float8 as "dueSeconds",
      coalesce(queued.failures -> -1 ->> 'message', running.failures -> -1 ->> 'message') as "retryMessage",
      failed.failure_message as "failureMessage"
    from jsonb_to_recordset(${JSON.stringify(sweeps)}::jsonb) as given(name text, kind text, "subjectId" text)
    join schedules s on s.name = given.name
    left join tasks running on running.kind = given.kind and running.subject_id = given."subjectId" and running.status = 'running'
    left join tasks queued on queued.kind = given.kind and queued.subject_id = given."subjectId" and queued.status = 'queued'
    left join lateral (
      select o.failure_message from operations o
      where o.status = 'ERROR' and o.kind = given.kind and o.subject_id = given."subjectId" and o.finished_at > s.succeeded_at
      order by o.finished_at desc limit 1
    ) failed on true
    order by s.name`;
