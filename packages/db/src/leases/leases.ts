import { pause } from '@paddock/runtime/pause';
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
async function releaseLease(db: Kysely<Database>, name: string, fence: number): Promise<void> {
  await db
    .updateTable('leases')
    .set({ expires_at: sql`'-infinity'` })
    .where('name', '=', name)
    .where('fence', '=', fence)
    .execute();
}

interface HoldLeaseOptions {
  db: Kysely<Database>;
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
export async function holdLease(
  options: HoldLeaseOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { db, name, holder, leaseMs, renewMs, onError } = options;
  while (!signal.aborted) {
    const asked = performance.now();
    const fence = await takeLease(db, name, holder, leaseMs).catch((error: unknown) => {
      onError(error);
      return undefined;
    });
    const term = leaseTerm(name, leaseMs - renewMs, asked);
    if (fence === undefined || term.lost.aborted) {
      term.end();
      await pause(renewMs, signal);
      continue;
    }
    const working = AbortSignal.any([signal, term.lost]);
    const renewing = keepRenewing(options, fence, term, working);
    try {
      await work(working);
    } catch (error) {
      onError(error);
    } finally {
      term.end();
      await renewing;
      await releaseLease(db, name, fence).catch(onError);
    }
    if (!signal.aborted) await pause(renewMs, signal);
  }
}

interface LeaseTerm {
  /** Aborts when the term is over or ended. */
  readonly lost: AbortSignal;
  /** Another term, from when its renewal was asked for. */
  prolong(askedAt: number): void;
  end(): void;
}

/**
 * How long this process may believe to hold a lease: shorter than its row says, and by a timer, so
 * that an unanswered statement does not prolong it. Monotonic: a step of the wall clock neither
 * prolongs nor ends it.
 */
function leaseTerm(name: string, termMs: number, askedAt: number): LeaseTerm {
  const lost = new AbortController();
  const end = () =>
    lost.abort(
      new Error(
        `the lease ${name} has ended or could not be renewed, and any replica may take it now`,
      ),
    );
  let timer: NodeJS.Timeout | undefined;
  const prolong = (from: number) => {
    clearTimeout(timer);
    const leftMs = from + termMs - performance.now();
    if (leftMs <= 0) end();
    else if (!lost.signal.aborted) timer = setTimeout(end, leftMs);
  };
  prolong(askedAt);
  return {
    lost: lost.signal,
    prolong,
    end() {
      clearTimeout(timer);
      end();
    },
  };
}

/** How soon the next renewal follows a failed one: perhaps only its connection was broken. */
const RETRIES_PER_RENEWAL = 4;

async function keepRenewing(
  options: HoldLeaseOptions,
  fence: number,
  term: LeaseTerm,
  working: AbortSignal,
): Promise<void> {
  const { db, name, leaseMs, renewMs, onError } = options;
  let waitMs = renewMs;
  while (!working.aborted) {
    await pause(waitMs, working);
    if (working.aborted) return;
    const asked = performance.now();
    const ours = await renewLease(db, name, fence, leaseMs).catch((error: unknown) => {
      onError(error);
      return undefined;
    });
    waitMs = ours === undefined ? renewMs / RETRIES_PER_RENEWAL : renewMs;
    if (ours === true) term.prolong(asked);
    if (ours === false) term.end();
  }
}
