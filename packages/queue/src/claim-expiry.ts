import { isTooFarAhead, LEASE } from '@paddock/db/instants';
import { sql } from 'kysely';

/**
 * A claim lasts until `locked_until`, by PostgreSQL's clock. With 15 s:
 * - the holder renews it every 3 s;
 * - the holder interrupts its run 10 s after the last renewal;
 * - others take over after 15 s.
 *
 * A holder interrupts its run before others may take over: its clock starts when it sends the
 * renewal, theirs when PostgreSQL writes it.
 */
const LONGEST_BEAT_MS = 3_000;

/** How often a holder renews its claims, and looks for expired ones of others, in milliseconds. */
export const beatMs = (claimMs: number): number => Math.min(LONGEST_BEAT_MS, claimMs / 5);

/** The least share of a claim that must be left for a run to go on. */
export const ENOUGH_LEFT = 1 / 3;

/** The share of a claim that is left `ageMs` after its renewal was sent, from 1 down to 0. */
export const shareLeft = (ageMs: number, claimMs: number): number =>
  Math.max(0, 1 - ageMs / claimMs);

/** SQL over a row of tasks: its claim has expired, or is void. */
export const isExpired = sql`(tasks.locked_until < now() or ${isTooFarAhead(sql`tasks.locked_until`, LEASE)})`;
