import { every, pause } from '@paddock/runtime/pause';
import { sql } from 'kysely';
import { rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';
import { isTooFarAhead, LEASE } from '../instants.ts';
import { milliseconds } from '../milliseconds.ts';

// A session lock would stay with a hung holder for hours; a lease row ends by itself.

/**
 * Takes the lease if it is free, has expired or is void. A holder that could not give its own back,
 * because PostgreSQL was away, takes it again at once. Returns the new fence; undefined: it is held.
 */
export async function takeLease(
  db: Db,
  name: string,
  holder: string,
  leaseMs: number,
): Promise<number | undefined> {
  const rows = await rowsOf<{ fence: number }>(db)`
    insert into leases as held (name, holder, fence, expires_at)
    values (${name}, ${holder}, 1, now() + ${milliseconds(leaseMs)})
    on conflict (name) do update
      set holder = excluded.holder, fence = held.fence + 1, expires_at = excluded.expires_at
      where held.expires_at < now() or held.holder = excluded.holder or ${isTooFarAhead(sql`held.expires_at`, LEASE)}
    returning fence`;
  return rows[0]?.fence;
}

/** A lease as its holder knows it. After a failover that lost commits, another may have its fence. */
interface Held {
  readonly name: string;
  readonly holder: string;
  readonly fence: number;
}

/** Prolongs a lease that this holder still has. False: another has it now. */
export async function renewLease(db: Db, held: Held, leaseMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('leases')
    .set({ expires_at: sql`now() + ${milliseconds(leaseMs)}` })
    .where(({ and }) => and(held))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Leases that ended more than a minute ago without a renewal, and how long ago that was. */
export const findLapsedLeases = (db: Db): Promise<{ name: string; seconds: number }[]> =>
  db
    .selectFrom('leases')
    .select(['name', sql<number>`extract(epoch from now() - expires_at)::float8`.as('seconds')])
    // One that was given back is free since then, for an unknown time.
    .where(sql<boolean>`isfinite(expires_at) and expires_at < now() - interval '1 minute'`)
    .orderBy('name')
    .execute();

/** Gives a lease back at once. The row stays: its fence must not start again. */
async function releaseLease(db: Db, held: Held): Promise<void> {
  await db
    .updateTable('leases')
    .set({ expires_at: sql`'-infinity'` })
    .where(({ and }) => and(held))
    .execute();
}

interface HoldLeaseOptions {
  db: Db;
  name: string;
  /** Who we are, unique per process. */
  holder: string;
  leaseMs: number;
  renewMs: number;
  /** Receives failed statements; the lease is then tried again. */
  onError: (error: unknown) => void;
}

/**
 * Runs `work` while this process holds the lease, until `signal` aborts. The signal of `work` also
 * aborts when the lease was not renewed in time, even if PostgreSQL is silent. Work that ends by
 * itself gives the lease back and starts again.
 */
export const holdLease = (
  options: HoldLeaseOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> =>
  every(options.renewMs, () => holdOnce(options, work, signal).catch(options.onError))(signal);

/** How soon the next renewal follows a failed one: perhaps only its connection was broken. */
const RETRIES_PER_RENEWAL = 4;

/**
 * We believe to hold the lease for a shorter time than its row says, from when it was asked for,
 * and by a timer: an unanswered statement does not prolong it, nor does a step of the wall clock.
 */
async function holdOnce(
  { db, name, holder, leaseMs, renewMs, onError }: HoldLeaseOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let asked = performance.now();
  const leftMs = () => Math.max(0, asked + leaseMs - renewMs - performance.now());
  const fence = await takeLease(db, name, holder, leaseMs);
  if (fence === undefined || leftMs() === 0) return;
  const held = { name, holder, fence };
  const lost = new AbortController();
  const lose = () =>
    lost.abort(
      new Error(
        `the lease ${name} has ended or could not be renewed, and any replica may take it now`,
      ),
    );
  let timer = setTimeout(lose, leftMs());
  const working = AbortSignal.any([signal, lost.signal]);
  const renewing = async () => {
    let waitMs = renewMs;
    for (;;) {
      await pause(waitMs, working);
      if (working.aborted) return;
      const askedNow = performance.now();
      const isOurs = await renewLease(db, held, leaseMs).catch(onError);
      waitMs = isOurs === undefined ? renewMs / RETRIES_PER_RENEWAL : renewMs;
      if (isOurs === false) lose();
      if (isOurs !== true) continue;
      asked = askedNow;
      clearTimeout(timer);
      timer = setTimeout(lose, leftMs());
    }
  };
  const renewed = renewing();
  try {
    await work(working);
  } finally {
    lose();
    await renewed;
    clearTimeout(timer);
    await releaseLease(db, held).catch(onError);
  }
}
