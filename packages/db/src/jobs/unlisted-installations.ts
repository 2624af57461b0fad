import { type Kysely, sql } from 'kysely';
import { type EntityToAsk, isUsable } from '../entities/installation-today.ts';
import { mayCall } from '../entities/told.ts';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/** An installation whose repositories need listing. */
export interface UnlistedInstallation extends EntityToAsk {
  /** It has changed since its last listing: created, unsuspended, given repositories. */
  readonly hasChanged: boolean;
  /** PostgreSQL's time, as text: a Date would cut the microseconds off. */
  readonly now: string;
}

export interface UnlistedQuery {
  readonly everyMs: number;
  /** The Apps that are configured here. */
  readonly appIds: readonly number[];
  readonly most: number;
  /** Leaves out these, by GitHub's ids as text. */
  readonly except: readonly string[];
}

/**
 * Installations that changed since their repositories were last listed, or were listed too long
 * ago; changed ones first. Leaves out those where GitHub refused us lately.
 */
export async function findUnlistedInstallations(
  db: Kysely<Database>,
  { everyMs, appIds, most, except }: UnlistedQuery,
): Promise<UnlistedInstallation[]> {
  const { rows } = await sql<UnlistedInstallation>`
    select entity_id as "entityId", entity_type as "entityType", login, app_id as "appId", installation_id as "installationId",
      listed_at is null or listed_at < updated_at as "hasChanged", now()::text as now
    from installations
    where ${isUsable('installations', appIds)} and installation_id::text <> all(${except}::text[])
      and ${mayCall({ appId: 'installations.app_id', entityId: 'installations.entity_id', repoId: '0' })}
      and (listed_at is null or listed_at < updated_at or listed_at < now() - ${milliseconds(everyMs)})
    order by listed_at >= updated_at nulls first, listed_at nulls first, entity_id limit ${most}`.execute(
    db,
  );
  return rows;
}

/** A repository that an installation shows. */
export interface ListedRepository {
  readonly repoId: number;
  readonly fullName: string;
  /** GitHub's time; null if nothing was ever pushed. */
  readonly pushedAt: string | null;
}

/**
 * Stores the repositories of an installation's listing. One that was pushed to counts as active
 * since then, and a new one is due soon. A resting one that is not listed is forgotten. After a
 * change of the installation, new ones and those pushed to in the last `activeMs` are due at once.
 */
export async function noteListedRepositories(
  db: Kysely<Database>,
  { entityId, appId, hasChanged, now }: UnlistedInstallation,
  repositories: readonly ListedRepository[],
  activeMs: number,
): Promise<void> {
  const isActive = (row: string) =>
    sql`${sql.ref(`${row}.active_at`)} > now() - ${milliseconds(activeMs)}`;
  await sql`
    with listing as (
      update installations set listed_at = ${now}::timestamptz where entity_id = ${entityId} and app_id = ${appId}
    ), listed as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(repositories)}::jsonb) as listed("repoId" bigint, "fullName" text, "pushedAt" timestamptz)
    ), gone as (
      delete from repositories known where entity_id = ${entityId} and app_id = ${appId} and not ${isActive('known')}
        and repo_id not in (select "repoId" from listed)
    )
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at, named_at, due_at)
    select "repoId", ${entityId}, ${appId}, "fullName", coalesce(least("pushedAt", now()), 'epoch'), now(),
      now() - case when ${hasChanged}::boolean then interval '1 day' else '0' end
    from listed order by "repoId"
    on conflict (repo_id) do update set entity_id = excluded.entity_id, app_id = excluded.app_id, full_name = excluded.full_name,
      named_at = excluded.named_at, active_at = greatest(known.active_at, excluded.active_at),
      due_at = case when ${isActive('excluded')} and (${hasChanged}::boolean or excluded.active_at > known.active_at)
        then least(known.due_at, now()) else known.due_at end
      where excluded.active_at > known.active_at or (${hasChanged}::boolean and ${isActive('excluded')})
        or (known.entity_id, known.app_id, known.full_name) is distinct from (excluded.entity_id, excluded.app_id, excluded.full_name)`.execute(
    db,
  );
}
