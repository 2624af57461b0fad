import { sql } from 'kysely';
import { isTooFarAhead } from '../instants.ts';
import { rowOf, rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { milliseconds, NOW } from '../milliseconds.ts';

/** The database's clock. */
export async function databaseTime(db: Db): Promise<Date> {
  const { now } = await db.selectNoFrom(NOW.as('now')).executeTakeFirstOrThrow();
  return now;
}

export interface Tick {
  /** The schedule's name, unique in the environment. */
  name: string;
  /** The nominal instant, not the time of its execution. */
  tickAt: Date;
}

/**
 * Takes a tick for the whole cluster; undefined: it, or a later one that is not void, was taken
 * before.
 * `previousTickAt` is null for the first tick ever. Call it in the transaction that enqueues the
 * tick's work, so that neither exists without the other.
 */
export const takeTick = (trx: Trx, { name, tickAt }: Tick) =>
  rowOf<{ previousTickAt: Date | null }>(trx)`
    with before as (select last_tick_at from schedules where name = ${name})
    insert into schedules as known (name, last_tick_at) values (${name}, ${tickAt})
    on conflict (name) do update set last_tick_at = excluded.last_tick_at
      where known.last_tick_at < excluded.last_tick_at or ${isTooFarAhead(sql`known.last_tick_at`)}
    returning (select last_tick_at from before) as "previousTickAt"`;

/** Since when extra passes have been wanted without a rest of two minutes; null where none were. */
const since = sql`case when extra_until > now() - interval '2 minutes' then extra_since end`;

/** How far apart extra passes are in the first minute of trouble. */
const FIRST_APART = sql`interval '4 seconds'`;

/** The longer trouble lasts, the further apart: up to a minute, which is cheap for ever. */
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
}

/**
 * Requests passes of a sweep between its ticks, and notifies the reconciler. The request stays
 * stored until a task exists. Equal requests share passes. While trouble lasts, all wait for the
 * next pass, which comes after what they saw.
 */
export async function wantExtraPasses(
  db: Db,
  { schedule, inMs = 0, forMs = 0 }: WantedPasses,
): Promise<void> {
  const at = sql`now() + ${milliseconds(inMs)}`;
  await sql`
    with wanted as (
      update schedules set
        extra_at = case
          when extra_at is null then greatest(${at}, case when ${apart} > ${FIRST_APART} then extra_until + ${apart} end)
          when extra_at <= ${at} + ${apart} then extra_at
          else ${at} end,
        extra_since = coalesce(${since}, now()),
        extra_until = greatest(extra_until, ${at}, now() + ${milliseconds(forMs)})
      where name = ${schedule} returning name
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

export function readScheduleTimes(db: Db, schedules: readonly string[]): Promise<ScheduleTimes> {
  const extraInMs = sql<number | null>`(extract(epoch from min(extra_at) - now()) * 1000)::float8`;
  return db
    .selectFrom('schedules')
    .select([NOW.as('now'), extraInMs.as('extraInMs')])
    .where('name', '=', sql<string>`any(${schedules})`)
    .executeTakeFirstOrThrow();
}

/**
 * Takes the due extra passes, for the whole cluster, and stores when each schedule's next one is
 * due. Returns the schedules' names. Call it in the transaction that enqueues their tasks.
 */
export async function takeExtraPasses(trx: Trx, schedules: readonly string[]): Promise<string[]> {
  const rows = await rowsOf<{ name: string }>(trx)`
    update schedules set extra_until = greatest(extra_until, now()),
      extra_at = case when extra_until > now() + ${milliseconds(SAME_MS)} then now() + ${apart} end
    where name in (select name from schedules where name = any(${schedules}) and extra_at <= now() order by name for update)
    returning name`;
  return rows.map(({ name }) => name);
}
