import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/** Since when extra passes have been wanted without a rest of two minutes; null where none were. */
const since = sql`case when extra_until > now() - interval '2 minutes' then extra_since end`;

/** How far apart extra passes are in the first minute of trouble. */
const FIRST_APART = sql`interval '4 seconds'`;

/**
 * The longer trouble lasts, the further apart: a minute after a quarter of an hour, which GitHub's
 * budget allows for ever.
 */
const apart = sql`least(interval '1 minute', greatest(${FIRST_APART}, (now() - ${since}) / 15))`;

/** Two instants no further apart than this share one pass. */
const SAME_MS = 1_000;

export interface WantedPasses {
  /** The schedule's name. Before its first tick nothing happens: that tick is still to come. */
  readonly schedule: string;
  /** When to run the first pass, in milliseconds from now; absent: at once. */
  readonly inMs?: number;
  /** How long further passes follow, in milliseconds from now; absent: none. */
  readonly forMs?: number;
  /** In the first minute of trouble: also if another pass comes within seconds. */
  readonly isUrgent?: boolean;
  /** Does nothing if an extra pass was requested in the last milliseconds, this many. */
  readonly restMs?: number;
}

/**
 * Requests passes of a sweep between its ticks, and notifies the reconciler. The request stays
 * stored until a task exists. Equal requests share passes. While trouble lasts, all wait for the
 * next pass, which comes after what they saw.
 */
export async function wantExtraPasses(
  db: Kysely<Database>,
  { schedule, inMs = 0, forMs = 0, isUrgent = false, restMs }: WantedPasses,
): Promise<void> {
  const at = sql`now() + ${milliseconds(inMs)}`;
  await sql`
    with wanted as (
      update schedules set
        extra_at = case
          when ${isUrgent}::boolean and ${apart} = ${FIRST_APART} then least(extra_at, ${at})
          when extra_at is null then greatest(${at}, case when ${apart} > ${FIRST_APART} then extra_until + ${apart} end)
          when extra_at <= ${at} + ${apart} then extra_at
          else ${at} end,
        extra_since = coalesce(${since}, now()),
        extra_until = greatest(extra_until, ${at}, now() + ${milliseconds(forMs)})
      where name = ${schedule} and coalesce(extra_until <= now() - ${milliseconds(restMs ?? null)}, true)
      returning name
    )
    select pg_notify(current_schema() || '_sweep_event', name) from wanted`.execute(db);
}

/** What one replica needs to know of the schedules. */
export interface ScheduleTimes {
  /** The database's clock, by which all replicas know which tick is the newest. */
  readonly now: Date;
  /** Until the next extra pass, in milliseconds; null if none is wanted. */
  readonly extraInMs: number | null;
}

export async function readScheduleTimes(
  db: Kysely<Database>,
  schedules: readonly string[],
): Promise<ScheduleTimes> {
  const { rows } = await sql<ScheduleTimes>`
    select now() as now, (extract(epoch from min(extra_at) - now()) * 1000)::float8 as "extraInMs"
    from schedules where name = any(${schedules}::text[])`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered an aggregate without a row.');
  return row;
}

/**
 * Takes the due extra passes, for the whole cluster, and stores when each schedule's next one is
 * due. Returns the schedules' names. Call it in the transaction that enqueues their tasks.
 */
export async function takeExtraPasses(
  trx: Transaction<Database>,
  schedules: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    update schedules set
      extra_at = case when extra_until > now() + ${milliseconds(SAME_MS)} then now() + ${apart} end,
      extra_until = greatest(extra_until, now())
    where name in (select name from schedules where name = any(${schedules}::text[]) and extra_at <= now() order by name for update)
    returning name`.execute(trx);
  return rows.map(({ name }) => name);
}
