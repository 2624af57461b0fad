import { sql } from 'kysely';
import { isTooFarAhead } from './instants.ts';
import type { Db } from './schema/tables.ts';
import { hasEnded, isUnended, LIVE } from './states/states.ts';

const daysAgo = (days: number) => sql`now() - ${days} * interval '1 day'`;

/** The id up to which events were retired; 0 before the first time. */
export async function retiredUpTo(db: Db): Promise<number> {
  const row = await db.selectFrom('instance').select('events_retired_to').executeTakeFirstOrThrow();
  return row.events_retired_to;
}

export interface RetiredEvents {
  removed: number;
  /** Where the next batch begins. */
  reachedId: number;
  /** The next events are too young. */
  isLast: boolean;
}

/**
 * Events of installations and of failed authentications. GitHub does not sign the event's header,
 * so a delivery counts only if its body was read as such an event. A repeated body says nothing
 * new.
 */
const isKept = sql`case when source = 'webhook'
  then split_part(event, '.', 1) in ('installation', 'installation_repositories', 'installation_target') and outcome <> 'repeated_body'
  else starts_with(event, 'installation') or starts_with(event, 'auth_attempt.') or event in ('discovered.installed', 'discovered.uninstalled') end`;

const isVoid = isTooFarAhead(sql`received_at`);

/**
 * Removes events older than `keepDays` among the next `batch` after `afterId`, in order of their
 * ids. Keeps those of installations and of failed authentications for ever. Ids rise with time, so
 * it reads nothing twice and at most one younger event. Passes over one with a void instant.
 */
export async function retireEvents(
  db: Db,
  { afterId, keepDays, batch }: { afterId: number; keepDays: number; batch: number },
): Promise<RetiredEvents> {
  const { rows } = await sql<{
    read: number;
    passed: number;
    reachedId: number | null;
    removed: number;
  }>`
    with next as materialized (
      select id, ${isKept} or ${isVoid} as is_kept, received_at < ${daysAgo(keepDays)} or ${isVoid} as is_old from installation_events
      where id > ${afterId} order by id limit ${batch}
    ), old as (
      select id, is_kept from next where id < coalesce((select min(id) from next where not is_old), (select max(id) + 1 from next))
    ), gone as (
      delete from installation_events e using old
      where e.id = old.id and not old.is_kept
      returning 1 as one
    ), noted as (
      update instance set events_retired_to = reached from (select max(id) as reached from old) passed
      where reached > events_retired_to
    )
    select (select count(*) from next) as read, (select count(*) from old) as passed, (select max(id) from old) as "reachedId",
      (select count(*) from gone) as removed`.execute(db);
  const { read = 0, passed = 0, reachedId, removed = 0 } = rows[0] ?? {};
  return { removed, reachedId: reachedId ?? afterId, isLast: passed < read || read < batch };
}

/**
 * Removes ended jobs unchanged for `keepDays`, the oldest first, at most `batch`: without a live
 * worker, and of no run that goes on. Returns how many; fewer than `batch`: none is left.
 */
export async function retireJobs(
  db: Db,
  { keepDays, batch }: { keepDays: number; batch: number },
): Promise<number> {
  // Live rows are read once for all jobs: `not in` is hashed, while `not exists` would read them
  // for each job.
  const { numAffectedRows } = await sql`
    delete from jobs where job_id = any(array(
      select job_id from jobs j
      where created_at < ${daysAgo(keepDays)} and updated_at < ${daysAgo(keepDays)} and ${sql.raw(hasEnded('j'))} and not wants_worker
        and job_id not in (
          select of.id from workers cross join lateral (values (assigned_job_id), (made_for_job_id)) of(id)
          where ${LIVE} and of.id is not null)
        and run_id not in (select run_id from jobs where ${isUnended('jobs')})
      order by created_at limit ${batch} for update of j skip locked))`.execute(db);
  return Number(numAffectedRows);
}

/**
 * Removes reasons to wait that ended more than `keepHours` ago, at most `batch`. Returns how many;
 * fewer than `batch`: none is left.
 */
export async function retireWaitReasons(
  db: Db,
  { keepHours, batch }: { keepHours: number; batch: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from wait_reason_changes where ctid = any(array(
      select ctid from wait_reason_changes where until < now() - ${keepHours} * interval '1 hour' order by until limit ${batch}))`.execute(
    db,
  );
  return Number(numAffectedRows);
}
