import {
  type RefusedSubject,
  refusalReason,
  refusedSubject,
} from '@paddock/domain/entities/refused-subject';
import { type RawBuilder, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import { appendEvents } from '../events/append-events.ts';
import { IS_CONFIGURED } from '../instance.ts';
import { rowsOf } from '../rows.ts';
import type { Db, EntityType, Trx } from '../schema/tables.ts';

/** For a WHERE: GitHub refuses us this App, installation or repository, and its App is still ours. */
export const IS_REFUSED = sql<boolean>`refused_since is not null and ${IS_CONFIGURED}`;

/** The subjects that a call depends on; only an App, if it called for itself. */
export interface Asked {
  readonly appId: number;
  readonly entityId?: number;
  readonly installationId?: number;
  /** 0 or undefined: it is about no repository. */
  readonly repoId?: number;
}

/** The call that GitHub refused, and the job that it was for. */
export interface RefusedCall extends Asked {
  readonly entityType?: EntityType;
  readonly login?: string;
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
 * Stores a refusal: an event that explains why an installation stopped working, and the time until
 * which no service calls there. Returns how long that is, in milliseconds; undefined: only this call
 * is refused, or a repository without a known id or with another owner now. Wakes the matcher.
 */
export async function recordRefusal(
  db: Db,
  source: 'scheduler' | 'reconciler',
  { call, refusal }: { call: RefusedCall; refusal: Refusal },
): Promise<number | undefined> {
  await appendEvent(db, source, call, refusal);
  const subject = refusedSubject(refusal);
  return subject && refuse(db, subject, call, refusal);
}

function appendEvent(
  db: Db,
  source: 'scheduler' | 'reconciler',
  { appId, installationId, repoId = 0, jobId, deliveryGuid, ...call }: RefusedCall,
  { operation, status = 0, message }: Refusal,
): Promise<void> {
  const { entityId: id, entityType: type, login } = call;
  const isKnown = id !== undefined && type !== undefined && login !== undefined;
  const payload = {
    operation,
    http_status: status,
    message,
    app_id: appId,
    installation_id: installationId,
    ...(id !== undefined && { entity: { id, name: login, type } }),
    job_id: jobId ?? null,
  };
  const isUnknown = status === 404;
  return appendEvents(db, [
    {
      source,
      event: isUnknown ? 'auth_attempt.404' : 'auth_attempt.other_error',
      outcome: isUnknown ? 'auth_404' : 'auth_other_error',
      appId,
      installationId,
      entity: isKnown ? { id, type, login } : null,
      repoId: repoId === 0 ? null : repoId,
      jobId,
      deliveryGuid,
      payload: JSON.stringify(payload),
    },
  ]);
}

const COLUMNS = sql.raw('refused_since, refused_until, refused_reason, refused_message');
const NONE = sql.raw(
  'refused_since = null, refused_until = null, refused_reason = null, refused_message = null',
);

/**
 * Leaves the subject alone for an eighth of the time since its first refusal, a minute at least and
 * an hour at most: so work goes on at most an eighth later than it could. A refusal in force is not
 * prolonged. Returns its rest.
 */
async function refuse(
  db: Db,
  subject: RefusedSubject,
  { appId, entityId = 0, installationId = 0, repoId = 0 }: Asked,
  refusal: Refusal,
): Promise<number | undefined> {
  if (subject === 'repository' && repoId === 0) return undefined;
  const reason = refusalReason(subject, refusal);
  const { message } = refusal;
  const first = sql`now(), now() + interval '1 minute', ${reason}, ${message}`;
  const again = sql`(${COLUMNS}) = (coalesce(t.refused_since, now()),
    case when t.refused_until > now() then t.refused_until
      else now() + least(interval '1 hour', greatest(interval '1 minute', (now() - t.refused_since) / 8)) end,
    ${reason}::text, ${message}::text)`;
  const statements: Record<RefusedSubject, RawBuilder<unknown>> = {
    app: sql`insert into apps as t (app_id, ${COLUMNS}) values (${appId}, ${first})
      on conflict (app_id) do update set ${again}`,
    entity: sql`update installations t set ${again}
      where entity_id = ${entityId} and app_id = ${appId} and installation_id = ${installationId}`,
    repository: sql`insert into repositories as t (repo_id, entity_id, app_id, active_at, ${COLUMNS})
      values (${repoId}, ${entityId}, ${appId}, 'epoch', ${first}) on conflict (repo_id) do update set ${again} where t.entity_id = ${entityId}`,
  };
  const rows = await rowsOf<{ ms: number }>(db)`
    with refused as (${statements[subject]} returning refused_until)
    select extract(epoch from refused_until - now())::float8 * 1000 as ms, pg_notify(current_schema() || '_queue_event', 'refusals')
    from refused`;
  return rows[0]?.ms;
}

/** Ends the refusals of all subjects of a call, because GitHub has answered it. */
export async function endRefusals(
  db: Db,
  { appId, entityId = 0, repoId = 0 }: Asked,
): Promise<void> {
  const places = {
    apps: sql`app_id = ${appId}`,
    installations: sql`entity_id = ${entityId} and app_id = ${appId}`,
    repositories: sql`repo_id = ${repoId}`,
  };
  // Nearly all calls end none: they write nothing.
  const { rows } = await sql`${prepared}
    select from apps where ${places.apps} and refused_since is not null
    union all
    select from installations where ${places.installations} and refused_since is not null
    union all
    select from repositories where ${places.repositories} and refused_since is not null`.execute(
    db,
  );
  if (rows.length > 0) await end(db, places);
}

/** Ends all refusals of an App and of what it asks for: its key has changed, or it is new. */
export async function endRefusalsOfApp(db: Db, appId: number): Promise<void> {
  const ofApp = sql`app_id = ${appId}`;
  await end(db, { apps: ofApp, installations: ofApp, repositories: ofApp });
  await db
    .selectFrom('installations')
    .select(sql`end_refusals(entity_id, '{}')`.as('ended'))
    .where('app_id', '=', appId)
    .orderBy('entity_id')
    .execute();
}

/** Repositories have changed at GitHub. Runs with the owner's rights. Wakes the matcher. */
export async function endRefusalsOfRepositories(
  trx: Trx,
  repoIds: readonly number[],
): Promise<void> {
  if (repoIds.length > 0) await sql`select end_refusals(null, ${repoIds}::bigint[])`.execute(trx);
}

/** Wakes the matcher. */
async function end(
  db: Db,
  places: Readonly<Record<'apps' | 'installations' | 'repositories', RawBuilder<unknown>>>,
): Promise<void> {
  const ending = (table: keyof typeof places, key: string) => sql`
      update ${sql.table(table)} set ${NONE} where (${sql.raw(key)}) in (
        select ${sql.raw(key)} from ${sql.table(table)} where refused_since is not null and ${places[table]}
        order by ${sql.raw(key)} for no key update)`;
  await sql`
    with of_apps as (${ending('apps', 'app_id')}),
    of_installations as (${ending('installations', 'entity_id, app_id')}),
    of_repositories as (${ending('repositories', 'repo_id')})
    select pg_notify(current_schema() || '_queue_event', 'refusals')`.execute(db);
}
