import { type Kysely, sql, type Transaction } from 'kysely';
import { isTooFarAhead } from '../instants.ts';
import type { Database } from '../schema/tables.ts';

/** The database's clock. */
export async function databaseTime(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  const now = rows[0]?.now;
  if (now === undefined) throw new Error('PostgreSQL answered `select now()` without a row.');
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
export async function takeTick(
  trx: Transaction<Database>,
  { name, tickAt }: Tick,
): Promise<{ previousTickAt: Date | null } | undefined> {
  const { rows } = await sql<{ previousTickAt: Date | null }>`
    with before as (select last_tick_at from schedules where name = ${name})
    insert into schedules as known (name, last_tick_at) values (${name}, ${tickAt})
    on conflict (name) do update set last_tick_at = excluded.last_tick_at
      where known.last_tick_at < excluded.last_tick_at or ${isTooFarAhead(sql`known.last_tick_at`)}
    returning (select last_tick_at from before) as "previousTickAt"`.execute(trx);
  return rows[0];
}
