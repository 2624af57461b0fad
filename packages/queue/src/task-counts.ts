import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import type { FailureReason } from './failures.ts';

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
export async function readTaskCounts(
  db: Kysely<Database>,
  { from, to, step, kind }: CountsRange,
): Promise<TaskCount[]> {
  const { rows } = await sql<TaskCount>`
    select date_trunc(${step}::text, hour, 'UTC') as "from", kind, outcome, failure_reason as "failureReason", sum(ended)::bigint as ended
    from task_counts
    where hour >= ${from} and hour < ${to} and (${kind ?? null}::text is null or kind = ${kind ?? null}::text)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4`.execute(db);
  return rows;
}

/** A year can be compared with the one before. */
export const KEEP_MONTHS = 13;

/**
 * Older hours have one row each by now. If no sweep ran for so long, they keep many; the sums hold.
 */
const SCATTERED_DAYS = 7;

/**
 * Joins the rows that settling appended to each past hour into one, and removes those older than
 * `KEEP_MONTHS`. The sums are right at any instant: two passes never take the same row, and the
 * next pass adds late rows.
 */
export async function rollUpTaskCounts(
  db: Kysely<Database>,
): Promise<{ merged: number; removed: number }> {
  const { rows } = await sql<{ merged: number; removed: number }>`
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
    select (select count(*) from taken) as merged, (select count(*) from old) as removed`.execute(
    db,
  );
  return rows[0] ?? { merged: 0, removed: 0 };
}
