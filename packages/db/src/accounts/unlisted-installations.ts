import { type Kysely, sql } from 'kysely';
import type { InstallationToAsk } from '../jobs/repositories.ts';
import { isRefused } from './refused-accounts.ts';
import type { Database } from '../schema/tables.ts';

/** An installation whose repositories are to be listed. */
export interface UnlistedInstallation extends InstallationToAsk {
  /** It has changed since its last listing: created, unsuspended, given repositories. */
  readonly hasChanged: boolean;
  /** PostgreSQL's time, as text: a Date would cut the microseconds off. */
  readonly now: string;
}

/** Installations where GitHub did not refuse us lately and that changed since their repositories were last listed, or for which that was too long ago; changed ones first. */
export async function findUnlistedInstallations(
  db: Kysely<Database>,
  { everyMs, appIds, most, refusedPauseMs }: { everyMs: number; appIds: readonly number[]; most: number; refusedPauseMs: number },
): Promise<UnlistedInstallation[]> {
  const { rows } = await sql<UnlistedInstallation>`
    select entity_id as "entityId", entity_type as "entityType", login, app_id as "appId", installation_id as "installationId",
      listed_at is null or listed_at < updated_at as "hasChanged", now()::text as now
    from installations
    where deleted_at is null and suspended_at is null and app_id = any(${appIds}::bigint[])
      and not ${isRefused('installations.entity_id', refusedPauseMs)}
      and (listed_at is null or listed_at < updated_at or listed_at < now() - ${everyMs} * interval '1 millisecond')
    order by listed_at >= updated_at nulls first, listed_at nulls first, entity_id limit ${most}`.execute(db);
  return rows;
}

/** A repository that was pushed to, at GitHub's time. */
export interface PushedRepository {
  readonly repoId: number;
  readonly fullName: string;
  readonly pushedAt: string;
}

/** Notes which repositories of an installation were pushed to in the last `activeMs` and may have runs, as of its listing; after a change of the installation they are due at once. */
export async function noteListedRepositories(
  db: Kysely<Database>,
  { entityId, appId, hasChanged, now }: UnlistedInstallation,
  pushed: readonly PushedRepository[],
  activeMs: number,
): Promise<void> {
  await sql`
    with listed as (
      update installations set listed_at = ${now}::timestamptz where entity_id = ${entityId} and app_id = ${appId}
    )
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at)
    select "repoId", ${entityId}, ${appId}, "fullName", least("pushedAt", now())
    from jsonb_to_recordset(${JSON.stringify(pushed)}::jsonb) as pushed("repoId" bigint, "fullName" text, "pushedAt" timestamptz)
    where "pushedAt" > now() - ${activeMs} * interval '1 millisecond'
    order by "repoId"
    on conflict (repo_id) do update set entity_id = excluded.entity_id, app_id = excluded.app_id, full_name = excluded.full_name,
      active_at = greatest(known.active_at, excluded.active_at),
      due_at = case when ${hasChanged}::boolean then least(known.due_at, now()) else known.due_at end`.execute(db);
}
