import { isTooFarAhead } from '@paddock/db/instants';
import { milliseconds } from '@paddock/db/milliseconds';
import { type RawBuilder, sql } from 'kysely';

/**
 * When a claim expires. The setting gives its length. With 30 s:
 * - the holder renews every 5 s;
 * - the holder interrupts its run 20 s after the last renewal, or after 10 s without a session;
 * - others take over after 30 s, or after 12 s if the holder's session is gone.
 *
 * A holder interrupts its run before others may take over: its clock starts when it sends the
 * renewal, theirs when PostgreSQL writes it.
 */
const INTERRUPTED = 2 / 3;
const INTERRUPTED_WITHOUT_SESSION = 1 / 3;
const GONE = 2 / 5;

const LONGEST_BEAT_MS = 5_000;
const PATIENCE_MS = 2_000;

/** How often a claim is renewed, in milliseconds. */
export const beatMs = (claimMs: number): number => Math.min(LONGEST_BEAT_MS, claimMs / 6);

/**
 * In milliseconds: how long a renewal waits for its answer before another connection tries it, and
 * how long that attempt may take.
 */
export const beatLimits = (claimMs: number) => ({
  patienceMs: Math.min(PATIENCE_MS, claimMs / 15),
  limitMs: Math.max(100, Math.min(LONGEST_BEAT_MS - PATIENCE_MS, claimMs / 10)),
});

/** The least share of a claim that must be left for a run to go on. */
export const ENOUGH_LEFT = 1 - INTERRUPTED;

/**
 * The share of a claim that is left `ageMs` after its renewal was sent, from 1 down to 0. Without a
 * session it shrinks faster, so that ENOUGH_LEFT fits both cases.
 */
export const shareLeft = (ageMs: number, claimMs: number, hasSession: boolean): number =>
  Math.max(0, 1 - (ageMs / claimMs) * (hasSession ? 1 : INTERRUPTED / INTERRUPTED_WITHOUT_SESSION));

/**
 * The value of `locked_by`: the process's name and the length of its claims. Replicas may have
 * other settings, so the row must say when its claim expires.
 */
export const holderName = (holder: string, claimMs: number): string => `${holder}/${claimMs}ms`;

/** SQL over a row of tasks: how long its claim lasts, in milliseconds. */
export const claimMsOfRow = sql`substring(tasks.locked_by from '/([0-9]{1,9})ms$')::double precision`;

/** SQL over a row of tasks: its claim of so many milliseconds has expired, or is void. */
export const isOlderThan = (claimMs: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(tasks.locked_at < now() - ${milliseconds(claimMs)} or ${isTooFarAhead(sql`tasks.locked_at`)})`;

/** SQL over a row of tasks: its claim has expired. */
export const isExpired = isOlderThan(claimMsOfRow);

/** The lock class of this environment's executors. */
const LOCK_CLASS = `hashtext(current_schema() || ' executors')`;

/**
 * The first statement of a heartbeat's session: takes the lock that shows that the session lasts.
 * Shared: a new session may begin before PostgreSQL has noticed the end of the last one. A lock,
 * not `application_name`: a proxy that passes a connection on releases the lock and keeps the name.
 */
export const SHOW_SESSION = `select pg_advisory_lock_shared(${LOCK_CLASS}, hashtext($1))`;

/** SQL: the session of this holder (an SQL expression) lasts. */
export const hasSession = (holder: RawBuilder<unknown>): RawBuilder<unknown> => sql`exists (
  select from pg_locks
  where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
    and classid = ${sql.raw(LOCK_CLASS)}::oid and objid = hashtext(${holder})::oid and objsubid = 2 and granted)`;

/**
 * SQL over a row of tasks: another executor may take it over. Either its claim has expired, or two
 * fifths of it have passed without a renewal and the holder's session is gone. The second rule
 * needs the asking executor's own session: a server that lost all sessions says nothing about
 * holders. The order matters: pg_locks is read for late rows only.
 */
export const isAbandoned = (askerHasSession: RawBuilder<unknown>): RawBuilder<unknown> => sql`case
  when ${isExpired} then true
  when tasks.locked_at < now() - ${milliseconds(sql`${claimMsOfRow} * ${sql.raw(`${GONE}`)}`)}
    then ${askerHasSession} and not ${hasSession(sql`tasks.locked_by`)}
  else false end`;
