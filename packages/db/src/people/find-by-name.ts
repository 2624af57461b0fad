import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** The entity with this login: the one that has the App, before one that had it. */
export async function findEntityByLogin(
  db: Kysely<Database>,
  login: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('installations')
    .select('entity_id as entityId')
    .where(sql<boolean>`lower(login) = lower(${login})`)
    .orderBy('deleted_at', (order) => order.desc().nullsFirst())
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.entityId;
}

/** The repository with this full name, as discovery or the newest unended job names it. */
export async function findRepositoryByName(
  db: Kysely<Database>,
  fullName: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ repoId: number }>`
    select "repoId" from (
      select repo_id as "repoId", coalesce(named_at, active_at) as at from repositories where lower(full_name) = lower(${fullName})
      union all
      select repo_id, created_at from jobs where status in ('pending', 'running') and lower(repo_full_name) = lower(${fullName})
    ) named order by at desc limit 1`.execute(db);
  return rows[0]?.repoId;
}
