import { milliseconds } from '@paddock/db/milliseconds';
import { type RawBuilder, sql } from 'kysely';

/**
 * The rules of a claim. The setting gives its length; with 30 s: renewed every 5 s, interrupted after 20 s without a renewal and
 * after 10 s without a session, taken over after 30 s and, from a holder whose session is gone, after 12 s.
 *
 * A holder interrupts its runs before anybody may take them: its clock begins when it asks for a renewal, the others' when PostgreSQL writes it.
 */
const INTERRUPTED = 2 / 3;
const INTERRUPTED_WITHOUT_SESSION = 1 / 3;
const GONE = 2 / 5;

const LONGEST_BEAT_MS = 5_000;
const PATIENCE_MS = 2_000;

/** How often a claim is renewed, in milliseconds. */
export const beatMs = (claimMs: number): number => Math.min(LONGEST_BEAT_MS, claimMs / 6);

/** How long a renewal may wait for its answer until it is tried over another connection, and how long that may take, in milliseconds. */
export const beatLimits = (claimMs: number) => ({
  patienceMs: Math.min(PATIENCE_MS, claimMs / 15),
  limitMs: Math.max(100, Math.min(LONGEST_BEAT_MS - PATIENCE_MS, claimMs / 10)),
});

/** What of the claim must be left for a run to go on. */
export const ENOUGH_LEFT = 1 - INTERRUPTED;

/**
 * The share of a claim that is left so long after its renewal was asked for, from 1 down to 0. Without a session it ends sooner, so that
 * what is enough is the same.
 */
export const shareLeft = (ageMs: number, claimMs: number, hasSession: boolean): number =>
  Math.max(0, 1 - (ageMs / claimMs) * (hasSession ? 1 : INTERRUPTED / INTERRUPTED_WITHOUT_SESSION));

/**
 * The name under which tasks are held: the holder's own and the claim it beats for. So the row tells every executor which rule it goes by:
 * replicas may have other settings, and an executor of the version before, with no claim in its name, has a claim of five minutes and no
 * session to be seen.
 */
export const holderName = (holder: string, claimMs: number): string => `${holder}/${claimMs}ms`;

const FORMER_CLAIM_MS = 5 * 60_000;

const namedClaimMs = sql`substring(tasks.locked_by from '/([0-9]{1,9})ms$')::double precision`;

/** SQL over a row of tasks: the claim of its holder, in milliseconds. */
export const claimMsOfRow = sql`coalesce(${namedClaimMs}, ${sql.raw(`${FORMER_CLAIM_MS}`)})`;

/** SQL over a row of tasks: its claim has run out. */
export const isExpired = sql`tasks.locked_at < now() - ${milliseconds(claimMsOfRow)}`;

/** All executors of an environment. */
const PLACE = `hashtext(current_schema() || ' executors')`;

/**
 * The first statement of a heartbeat's session: takes the lock that shows that the holder is there. Shared, since a new session may begin
 * while PostgreSQL has not yet noticed the end of the one before. A lock, and not the name of the application: everybody may see both, but a
 * proxy that hands a connection on takes the lock away and leaves the name.
 */
export const SHOW_SESSION = `select pg_advisory_lock_shared(${PLACE}, hashtext($1))`;

/** An SQL expression: the session of this holder, an expression too, lasts. */
export const hasSession = (holder: RawBuilder<unknown>): RawBuilder<unknown> => sql`exists (
  select from pg_locks
  where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
    and classid = ${sql.raw(PLACE)}::oid and objid = hashtext(${holder})::oid and objsubid = 2 and granted)`;

/**
 * SQL over a row of tasks: another executor may take it over. Its claim has run out; or it has not been renewed for two fifths of the claim, and the
 * holder's session is gone while the looker's is there: a server that lost all sessions tells nothing about holders. In this order, so
 * that the locks are looked at for rows that are late only.
 */
export const isAbandoned = (askerHasSession: RawBuilder<unknown>): RawBuilder<unknown> => sql`case
  when ${isExpired} then true
  when tasks.locked_at < now() - ${milliseconds(sql`${namedClaimMs} * ${sql.raw(`${GONE}`)}`)}
    then ${askerHasSession} and not ${hasSession(sql`tasks.locked_by`)}
  else false end`;
