import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** Extra passes of one schedule are this far apart while they go on: as many as GitHub's budget bears for as long as trouble lasts. */
const APART_MS = 4_000;

/** Two instants that are no further apart share one pass. */
const SAME_MS = 1_000;

export interface WantedPasses {
  /** The schedule's name. Nothing happens where it has had no tick yet: its first one is still to come. */
  readonly schedule: string;
  /** When the first pass is wanted, in milliseconds from now; at once if absent. */
  readonly inMs?: number;
  /** For how long further passes follow, in milliseconds from now; none do if absent. */
  readonly forMs?: number;
  /** Wants it then also where another pass comes within seconds. */
  readonly isUrgent?: boolean;
  /** Wants nothing if an extra pass was wanted in these last milliseconds. */
  readonly restMs?: number;
}

/**
 * Wants passes of a sweep beside its ticks, and tells the reconciler. What is wanted stays written down until a task is made of it. Several
 * who want the same share the same passes.
 */
export async function wantExtraPasses(
  db: Kysely<Database>,
  { schedule, inMs = 0, forMs = 0, isUrgent = false, restMs }: WantedPasses,
): Promise<void> {
  const at = sql`now() + ${inMs}::float8 * interval '1 millisecond'`;
  await sql`
    with wanted as (
      update schedules set
        extra_at = case when not ${isUrgent}::boolean and extra_at <= ${at} + ${APART_MS} * interval '1 millisecond'
          then extra_at else least(extra_at, ${at}) end,
        extra_until = greatest(extra_until, ${at}, now() + ${forMs}::float8 * interval '1 millisecond')
      where name = ${schedule} and coalesce(extra_until <= now() - ${restMs ?? null}::float8 * interval '1 millisecond', true)
      returning name
    )
    select pg_notify(current_schema() || '_sweep_event', name) from wanted`.execute(db);
}

/** What the schedules of one replica have to look at. */
export interface SchedulesToLookAt {
  /** The database's clock, by which all replicas know which tick is the newest. */
  readonly now: Date;
  /** Until the next extra pass, in milliseconds; null if none is wanted. */
  readonly extraInMs: number | null;
}

export async function lookAtSchedules(db: Kysely<Database>, schedules: readonly string[]): Promise<SchedulesToLookAt> {
  const { rows } = await sql<SchedulesToLookAt>`
    select now() as now, (extract(epoch from min(extra_at) - now()) * 1000)::float8 as "extraInMs"
    from schedules where name = any(${schedules}::text[])`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered an aggregate without a row.');
  return row;
}

/**
 * Takes the extra passes that are due, for the whole cluster, and writes down when each schedule's next one is. Returns the schedules' names.
 * Belongs into the transaction that enqueues their tasks.
 */
export async function takeExtraPasses(trx: Transaction<Database>, schedules: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    update schedules set extra_at = case when extra_until > now() + ${SAME_MS} * interval '1 millisecond'
      then least(now() + ${APART_MS} * interval '1 millisecond', extra_until) end
    where name in (select name from schedules where name = any(${schedules}::text[]) and extra_at <= now() order by name for update)
    returning name`.execute(trx);
  return rows.map(({ name }) => name);
}
