import { type RefusedSubject, refusedSubject } from '@paddock/domain/entities/refused-subject';
// GitHub's refusals are rows of `breakers` with their own class. No service calls there until
// `paused_until`, unless a success or a change of the entity's installations ends the pause. A
// refusal opens no breaker: failed registrations decide whether workers are made.

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import {
  appBreaker,
  type BreakerSubject,
  installationBreaker,
  repositoryBreaker,
} from './breaker-subjects.ts';
import type { Noting } from './note-failure.ts';
import { closeBreakers } from './close-breakers.ts';
import { RATE_LIMITED, REFUSED } from './failure-classes.ts';
import type { Database, EntityType } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/** The subjects that a call depends on. */
export interface Asked {
  readonly appId: number;
  readonly entityId: number;
  /** 0 or undefined: it is about no repository. */
  readonly repoId?: number;
}

/** The installation through which GitHub was called, and the job that the call was for. */
export interface RefusedCall extends Asked {
  readonly installationId: number;
  readonly entityType: EntityType;
  readonly login: string;
  readonly jobId?: number | null;
  readonly deliveryGuid?: string | null;
}

/** GitHub's answer. */
export interface Refusal {
  readonly kind: string;
  /** Method and path of the refused call. */
  readonly operation: string;
  /** HTTP status. */
  readonly status?: number;
  /** GitHub's words, free of credentials. */
  readonly message: string;
}

/**
 * People mend a wrong key, and GitHub has refused right ones for minutes. One call per App in this
 * time costs nothing.
 */
const APP_PAUSE_MS = 60_000;

/**
 * Stores a refusal: an event that explains why an installation stopped working, and the time until
 * which no service calls there. A refusal of a repository without a known id makes no pause.
 * Returns the subject of the pause, if there is one.
 */
export async function recordRefusal(
  { db, breakerRules: { refusedPauseMs } }: Noting,
  source: 'scheduler' | 'reconciler',
  { call, refusal }: { call: RefusedCall; refusal: Refusal },
): Promise<BreakerSubject | undefined> {
  await appendEvent(db, source, call, refusal);
  const speaksOf = refusedSubject(refusal);
  const subject = subjectOf(speaksOf, call);
  const pauseMs = speaksOf === 'app' ? Math.min(APP_PAUSE_MS, refusedPauseMs) : refusedPauseMs;
  if (subject !== undefined) await pause(db, subject, { message: refusal.message, pauseMs });
  return subject;
}

async function appendEvent(
  db: Kysely<Database>,
  source: 'scheduler' | 'reconciler',
  {
    appId,
    installationId,
    entityId,
    entityType,
    login,
    repoId = 0,
    jobId = null,
    deliveryGuid = null,
  }: RefusedCall,
  { operation, status = 0, message }: Refusal,
): Promise<void> {
  const payload = {
    operation,
    http_status: status,
    message,
    app_id: appId,
    installation_id: installationId,
    entity: { id: entityId, name: login, type: entityType },
    job_id: jobId,
  };
  await db
    .insertInto('installation_events')
    .values({
      source,
      event: status === 404 ? 'auth_attempt.404' : 'auth_attempt.other_error',
      outcome: status === 404 ? 'auth_404' : 'auth_other_error',
      app_id: appId,
      installation_id: installationId,
      entity_type: entityType,
      entity_id: entityId,
      entity_name: login,
      repo_id: repoId === 0 ? null : repoId,
      job_id: jobId,
      delivery_guid: deliveryGuid,
      payload: JSON.stringify(payload),
    })
    .execute();
}

/**
 * A new refusal does not prolong a pause: else one service that retries would keep all others away
 * for ever. Deletes old pauses.
 */
async function pause(
  db: Kysely<Database>,
  { type, id }: BreakerSubject,
  { message, pauseMs }: { message: string; pauseMs: number },
) {
  await sql`
    with old as materialized (
      select subject_type, subject_id from breakers
      where failure_class = ${REFUSED} and paused_until < now() - interval '1 day' and (subject_type, subject_id) <> (${type}, ${id})
      order by subject_type, subject_id for update skip locked
    ), forgotten as (
      delete from breakers b using old where (b.subject_type, b.subject_id, b.failure_class) = (old.subject_type, old.subject_id, ${REFUSED})
    )
    insert into breakers as b (subject_type, subject_id, failure_class, failures, paused_until, message)
    values (${type}, ${id}, ${REFUSED}, 1, now() + ${milliseconds(pauseMs)}, ${message})
    on conflict (subject_type, subject_id, failure_class) do update
      set failures = b.failures + 1, paused_until = excluded.paused_until, message = excluded.message, failed_at = now()
      where b.paused_until <= now()`.execute(db);
}

/** Ends the refusals of all subjects of a call, because GitHub has answered it. */
export async function endRefusals(
  db: Kysely<Database>,
  { appId, entityId, repoId = 0 }: Asked,
): Promise<void> {
  const subjects = JSON.stringify([
    appBreaker(appId),
    installationBreaker(entityId),
    repositoryBreaker(repoId),
  ]);
  const refused = sql`
    from jsonb_to_recordset(${subjects}::jsonb) as s(type text, id text)
    join breakers b on b.subject_type = s.type and b.subject_id = s.id and b.failure_class = ${REFUSED}`;
  // Even a deletion of no row would wake the matcher after every call.
  const { rows } = await sql`${prepared} select ${refused}`.execute(db);
  if (rows.length === 0) return;
  await closeBreakers(refused).execute(db);
}

function subjectOf(
  speaksOf: RefusedSubject | undefined,
  { appId, entityId, repoId = 0 }: Asked,
): BreakerSubject | undefined {
  switch (speaksOf) {
    case undefined:
      return undefined;
    case 'app':
      return appBreaker(appId);
    case 'entity':
      return installationBreaker(entityId);
    case 'repository':
      return repoId === 0 ? undefined : repositoryBreaker(repoId);
    default:
      return speaksOf satisfies never;
  }
}

/** The column with the id of each subject of a call. */
type Columns = Readonly<Record<keyof Asked, string>>;

/** The pause that a task waits for because GitHub refused a call. */
export interface RefusalInForce {
  readonly subject: BreakerSubject;
  /** Milliseconds until GitHub may be asked again. */
  readonly leftMs: number;
}

/**
 * For a SELECT: the longest refusal in force for the ids in these columns, as a `RefusalInForce`;
 * null: none.
 */
export const refusalInForce = (columns: Columns): RawBuilder<RefusalInForce | null> =>
  sql`(select json_build_object('subject', json_build_object('type', b.subject_type, 'id', b.subject_id),
        'leftMs', extract(epoch from b.paused_until - now()) * 1000)
      ${pauseOf(columns, refuses(columns))} order by b.paused_until desc limit 1)`;

/**
 * For a WHERE: sweeps make no call about the ids in these columns, because GitHub refused us or
 * asked us to wait.
 */
export const isCallPaused = (columns: Columns): RawBuilder<boolean> =>
  sql`exists (select ${pauseOf(columns, `(${refuses(columns)} or ${WAITS})`)})`;

/** A refusal ends when an installation of the entity changes. */
const refuses = ({ entityId }: Columns) =>
  `(b.failure_class = '${REFUSED}' and b.failed_at > coalesce((select max(updated_at) from installations changed where changed.entity_id = ${entityId}), '-infinity'))`;

/** An App's wait stops only calls that need a new token, so it does not count for an entity. */
const WAITS = `(b.failure_class = '${RATE_LIMITED}' and b.subject_type = 'installation')`;

/** One search for both conditions: a plan with two searches reads all rows of `breakers`. */
const pauseOf = ({ appId, entityId, repoId }: Columns, what: string): RawBuilder<unknown> =>
  sql.raw(`
    from breakers b
    where (b.subject_type, b.subject_id) in
        (('app', ${appId}::text), ('installation', ${entityId}::text), ('installation', ${entityId}::text || '/core'), ('repository', ${repoId}::text))
      and b.paused_until > now() and ${what}`);
