import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { isTooFarAhead, LEASE } from '../instants.ts';
import { milliseconds } from '../milliseconds.ts';

// A session lock would stay with a hung holder for hours; a lease row ends by itself.

/**
 * Takes the lease if it is free, has expired or is void. A holder that could not give its own back, because
 * PostgreSQL was away, takes it again at once. Returns the new fence; undefined: another holds it.
 */
export async function takeLease(
  db: Kysely<Database>,
  name: string,
  holder: string,
  leaseMs: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ fence: number }>`
    insert into leases as held (name, holder, fence, expires_at)
    values (${name}, ${holder}, 1, now() + ${milliseconds(leaseMs)})
    on conflict (name) do update
      set holder = excluded.holder, fence = held.fence + 1, expires_at = excluded.expires_at
      where held.expires_at < now() or held.holder = excluded.holder or ${isTooFarAhead(sql`held.expires_at`, LEASE)}
    returning fence`.execute(db);
  return rows[0]?.fence;
}

/** Prolongs a lease that this holder still has. False: another has it now. */
export async function renewLease(
  db: Kysely<Database>,
  name: string,
  fence: number,
  leaseMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('leases')
    .set({ expires_at: sql`now() + ${milliseconds(leaseMs)}` })
    .where('name', '=', name)
    .where('fence', '=', fence)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Gives a lease back, so that the next holder need not wait. The row stays, because its fence must
 * not start again.
 */
export async function releaseLease(
  db: Kysely<Database>,
  name: string,
  fence: number,
): Promise<void> {
  await db
    .updateTable('leases')
    .set({ expires_at: sql`'-infinity'` })
    .where('name', '=', name)
    .where('fence', '=', fence)
    .execute();
}
