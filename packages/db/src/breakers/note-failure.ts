import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { type BreakerSubject, heldBy } from './breaker-subjects.ts';
import { milliseconds } from '../milliseconds.ts';

export interface Failure {
  readonly subject: BreakerSubject;
  /** Failures of one class add up; a short word. */
  readonly failureClass: string;
  /** For people. */
  readonly message: string;
}

export interface BreakerRules {
  /** This many failures of one class without a success between them open a breaker. */
  readonly failures: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** How long an entity or a repository is left alone after GitHub refused us there. */
  readonly refusedPauseMs: number;
}

/** How long an open breaker makes a task wait. */
export interface Hold {
  /** How long, in milliseconds, unless it lets go sooner. */
  readonly waitMs: number;
  /** The breaker, as a task that waits for it names it: TYPE:ID of its subject. */
  readonly heldBy: string;
}

/** The dependencies of functions that count failures. */
export interface Noting {
  readonly db: Kysely<Database>;
  readonly breakerRules: BreakerRules;
}

/**
 * Counts a failure. The last that the rules allow opens the breaker for the first pause. Each
 * failed trial doubles the pause, up to the longest. If a probe was answered and the trial failed
 * nevertheless, the pause is an eighth of the time since the breaker opened, so people wait at most
 * an eighth longer than the outage. Failures of work that began before a pause do not prolong it.
 *
 * Returns the hold of the open breaker; undefined: it is not open.
 */
export async function noteFailure(
  { db, breakerRules }: Noting,
  { subject, failureClass, message }: Failure,
): Promise<Hold | undefined> {
  const charged = sql`select ${subject.type}::text as type, ${subject.id}::text as id, null::bigint as entity_id, null::text as worker`;
  const { rows } = await sql<{ waitMs: number }>`
    with charged as materialized (${charged}), noted as (${noting(breakerRules, failureClass, message)}),
    -- That of the snapshot, where the failure is not counted because the breaker was paused.
    pause as (
      select paused_until from noted
      union all
      select paused_until from breakers b
      where (b.subject_type, b.subject_id, b.failure_class) = (${subject.type}, ${subject.id}, ${failureClass}) and not exists (select from noted)
    )
    select greatest(0, ceil(extract(epoch from paused_until - now()) * 1000))::float8 as "waitMs" from pause where paused_until is not null`.execute(
    db,
  );
  const [pause] = rows;
  return pause && { waitMs: pause.waitMs, heldBy: heldBy(subject) };
}

/** Keeps rows short: a failure that a hundred others have followed is not taken back. */
const MOST_COUNTED = 100;

const counted = (column: string) =>
  sql.raw(
    `(b.${column} || excluded.${column})[greatest(1, cardinality(b.${column}) - ${MOST_COUNTED - 2}):]`,
  );

/**
 * Counts one failure against each subject in `charged`: its type and id, and the entity and the
 * worker that may have caused it. Both are null where it is certainly the subject's own. Returns
 * the breakers that counted it.
 */
export function noting(
  { failures, firstPauseMs, longestPauseMs }: Omit<BreakerRules, 'refusedPauseMs'>,
  failureClass: string,
  message: string | RawBuilder<string>,
): RawBuilder<unknown> {
  // Only failures of several entities within an hour count against the pool, not one of each in a
  // month.
  const isStale = sql`(b.pauses = 0 and b.entities is not null and b.subject_id not like '%@%' and b.failed_at < now() - interval '1 hour')`;
  const before = sql`case when ${isStale} then 0 else b.failures end`;
  // The entity's own row counts what one entity fails; the pool's row waits for a second entity.
  const isShared = sql`(b.subject_id like '%@%' or coalesce(not excluded.entities @> b.entities, true))`;
  const opens = sql`(b.pauses > 0 or ${before} + 1 >= ${failures}::integer and ${isShared})`;
  // A probe was answered, and no trial came for a minute: this failure begins another outage.
  const openedAt = sql`case when b.answered_at is not null and b.paused_until < now() - interval '1 minute' then now() else coalesce(b.opened_at, now()) end`;
  const pauseMs = sql`case when b.answered_at is null then ${firstPauseMs}::float8 * 2 ^ least(b.pauses, 30)
    else greatest(${SHORTEST_PAUSE_MS}::float8, extract(epoch from now() - ${openedAt}) * 1000 / 8) end`;
  return sql`
    insert into breakers as b (subject_type, subject_id, failure_class, failures, message, entities, workers)
    select type, id, ${failureClass}::text, 1, ${message}::text, 
      case when entity_id is not null then array[entity_id] end, case when worker is not null then array[worker] end
    from charged order by type, id
    on conflict (subject_type, subject_id, failure_class) do update
      set failures = case when ${opens} then 0 else ${before} + 1 end,
        pauses = b.pauses + ${opens}::integer,
        opened_at = case when ${opens} then ${openedAt} end,
        paused_until = case when ${opens}
          then now() + ${milliseconds(sql`least(${longestPauseMs}::float8, ${pauseMs})`)} else b.paused_until end,
        trial_until = null, message = excluded.message, failed_at = now(),
        entities = case when ${isStale} then excluded.entities else ${counted('entities')} end,
        workers = case when ${isStale} then excluded.workers else ${counted('workers')} end
      where b.paused_until is null or b.paused_until <= now()
    returning subject_id, pauses, paused_until`;
}

/**
 * While a probe is answered and a trial is not: a registration costs five points of GitHub's 900 in
 * a minute.
 */
const SHORTEST_PAUSE_MS = 1_000;

/**
 * Opens a breaker for the time that GitHub or the cluster asked for. Afterwards one trial shows
 * whether others may go on.
 */
export async function holdBack(
  db: Kysely<Database>,
  { subject, failureClass, message }: Failure,
  pauseMs: number,
): Promise<void> {
  const until = sql`now() + ${milliseconds(pauseMs)}`;
  await sql`
    insert into breakers as b (subject_type, subject_id, failure_class, failures, pauses, paused_until, message)
    values (${subject.type}, ${subject.id}, ${failureClass}, 0, 1, ${until}, ${message})
    on conflict (subject_type, subject_id, failure_class) do update
      set pauses = greatest(b.pauses, 1), paused_until = greatest(b.paused_until, excluded.paused_until),
        trial_until = null, message = excluded.message, failed_at = now()`.execute(db);
}
