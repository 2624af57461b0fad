import { type Kysely, sql } from 'kysely';
import { EVERY_SWEEP } from './paused-sweeps.ts';
import type { Database } from '../schema/tables.ts';

/** Notes that a pass of this schedule has succeeded; without such a schedule nothing happens. */
export async function noteSweepSuccess(db: Kysely<Database>, schedule: string): Promise<void> {
  await sql`update schedules set succeeded_at = now() where name = ${schedule}`.execute(db);
}

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
  readonly pausedBy: string | null;
  /**
   * How long its task has run or waited for an executor, and the error of its last try; null: no
   * task.
   */
  readonly runningSeconds: number | null;
  readonly dueSeconds: number | null;
  readonly retryMessage: string | null;
  /** The error of the newest pass that was given up since the last success. */
  readonly failureMessage: string | null;
}

/** The states of these schedules; without those that never had a tick. */
export async function findSweepStates(
  db: Kysely<Database>,
  sweeps: readonly ScheduledSweep[],
): Promise<SweepState[]> {
  const { rows } = await sql<SweepState>`
    select s.name, extract(epoch from now() - s.succeeded_at)::float8 as "secondsSinceSuccess",
      extract(epoch from now() - s.last_tick_at)::float8 as "secondsSinceTick",
      (select p.paused_by from paused_sweeps p where p.name in (given.kind, ${EVERY_SWEEP}) order by p.paused_at limit 1) as "pausedBy",
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
    order by s.name`.execute(db);
  return rows;
}
