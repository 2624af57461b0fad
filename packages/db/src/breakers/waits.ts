import { isAppCall } from '@paddock/domain/entities/refused-subject';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import { appBreaker, type BreakerSubject, installationBreaker } from './breaker-subjects.ts';
import { RATE_LIMITED } from './failure-classes.ts';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

// Waits that GitHub asked for are rows of `breakers` with their own class: of an App or an entity
// if all calls have to wait, of `ID/RESOURCE` if one hourly budget is used up. Every call checks
// them first. Only time or a person ends a wait, never a success.

/** The identity of a call: an App that speaks for itself, or an entity's installation. */
type Caller = { readonly appId: number } | { readonly entityId: number };

interface Wait {
  readonly ms: number;
  /** GitHub's words, free of credentials. */
  readonly message: string;
  /** The hourly budget that is used up; absent where all calls have to wait. */
  readonly resource?: string;
}

/** A wait that GitHub has named where none was in force. */
export interface BegunWait extends Wait {
  readonly subject: BreakerSubject;
}

/**
 * A client of GitHub calls `left` before each call and `note` after an answer that asks for a wait.
 */
export interface Waits {
  left(caller: Caller, resource: string): Promise<Pick<Wait, 'ms' | 'message'> | undefined>;
  note(caller: Caller, wait: Wait): Promise<void>;
}

interface UnwrittenWait extends BegunWait {
  /** By this process's clock that only goes on. */
  readonly until: number;
}

/** `onBegun` is called once for each new wait, in the process that GitHub named it to. */
export function createWaits(db: Kysely<Database>, onBegun: (wait: BegunWait) => void): Waits {
  const unwritten = new Map<string, UnwrittenWait>();

  const write = async (key: string, wait: UnwrittenWait): Promise<void> => {
    const ms = wait.until - performance.now();
    if (ms > 0 && (await writeWait(db, { ...wait, ms }))) onBegun(wait);
    if (unwritten.get(key) === wait) unwritten.delete(key);
  };
  return {
    async left(caller, resource) {
      const subjects = [subjectOf(caller), subjectOf(caller, resource)];
      for (const { type, id } of subjects) {
        const wait = unwritten.get(`${type} ${id}`);
        if (wait !== undefined) await write(`${type} ${id}`, wait);
      }
      return findWait(db, subjects);
    },
    async note(caller, named) {
      const subject = subjectOf(caller, named.resource);
      const key = `${subject.type} ${subject.id}`;
      const wait = { ...named, subject, until: performance.now() + named.ms };
      if (wait.until <= (unwritten.get(key)?.until ?? 0)) return;
      // Before the first await, so that the next call of this process sees it.
      unwritten.set(key, wait);
      // If the write fails, `left` writes it before the next call, or fails that call.
      await write(key, wait).catch(() => undefined);
    },
  };
}

const subjectOf = (caller: Caller, resource?: string): BreakerSubject => {
  const subject =
    'appId' in caller ? appBreaker(caller.appId) : installationBreaker(caller.entityId);
  return resource === undefined ? subject : { ...subject, id: `${subject.id}/${resource}` };
};

/** The subject that a waiting call waits for, by the call's method and path. */
export const waitBreaker = (
  { operation }: { readonly operation: string },
  of: { appId: number; entityId: number },
): BreakerSubject =>
  isAppCall(operation) ? appBreaker(of.appId) : installationBreaker(of.entityId);

/** The longest wait in force of these subjects; removes waits that are over. */
async function findWait(
  db: Kysely<Database>,
  [all, budget]: readonly BreakerSubject[],
): Promise<Pick<Wait, 'ms' | 'message'> | undefined> {
  const ofBoth = sql`subject_type = ${all?.type} and subject_id in (${all?.id}, ${budget?.id}) and failure_class = ${RATE_LIMITED}`;
  const { rows } = await sql<{ ms: number; message: string }>`${prepared}
    select extract(epoch from paused_until - now())::float8 * 1000 as ms, message from breakers
    where ${ofBoth} order by paused_until desc`.execute(db);
  const [longest] = rows;
  if (rows.some(({ ms }) => ms <= 0))
    await sql`delete from breakers where ${ofBoth} and paused_until <= now()`.execute(db);
  return longest !== undefined && longest.ms > 0
    ? { ...longest, ms: Math.ceil(longest.ms) }
    : undefined;
}

/** The longer wait wins. True: none was in force. */
async function writeWait(
  db: Kysely<Database>,
  { subject: { type, id }, message, ms }: BegunWait,
): Promise<boolean> {
  const { rows } = await sql<{ hasBegun: boolean }>`
    insert into breakers as b (subject_type, subject_id, failure_class, failures, paused_until, opened_at, message)
    values (${type}, ${id}, ${RATE_LIMITED}, 0, now() + ${milliseconds(ms)}, now(), ${message})
    on conflict (subject_type, subject_id, failure_class) do update
      set paused_until = excluded.paused_until, message = excluded.message, failed_at = now(),
        opened_at = case when b.paused_until > now() then b.opened_at else now() end
      where b.paused_until < excluded.paused_until
    returning opened_at = now() as "hasBegun"`.execute(db);
  return rows[0]?.hasBegun ?? false;
}

/** For a WHERE: GitHub has asked to wait with calls that include registrations. */
export const HOLDS_REGISTRATIONS = sql<boolean>`(failure_class = ${sql.lit(RATE_LIMITED)} and paused_until > now() and subject_id not like '%/core')`;

/**
 * For a WHERE: GitHub has asked us to make no usual calls for the entity whose id is in one column,
 * or none for the App in the other.
 */
export const isWaiting = ({
  entityId,
  appId,
}: {
  entityId: string;
  appId: string;
}): RawBuilder<boolean> =>
  sql.raw(`exists (
    select from breakers wait
    where (wait.subject_type, wait.subject_id) in
        (('installation', ${entityId}::text), ('installation', ${entityId}::text || '/core'), ('app', ${appId}::text), ('app', ${appId}::text || '/core'))
      and wait.failure_class = '${RATE_LIMITED}' and wait.paused_until > now())`);
