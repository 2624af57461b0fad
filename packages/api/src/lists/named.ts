import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Caller } from '../endpoint.ts';
import { wrong } from '../problem.ts';

/** A login of digits alone is taken for an id. Longer numbers are not exact in JavaScript. */
export const ID = /^[1-9]\d{0,14}$/;

/** The input `entity`: a login, in any case, or GitHub's id. */
export const entity = z.string().min(1).max(300).optional().describe('A login or an id');

/** The input `repository`: OWNER/NAME, in any case, or GitHub's id. */
export const repository = z.string().min(1).max(300).optional().describe('OWNER/NAME or an id');

/** The input `pool`: also one that is no longer in force. */
export const pool = z.string().min(1).max(100).optional().describe('The name of a pool');

/** The id of the `entity` that was asked for. Rejects with a Problem if none has this login. */
export const entityIdOf = ({ db }: Caller, given: string | undefined) =>
  idOf(given, (login) => findEntityByLogin(db, login), 'entity has this login');

/** The id of the `repository`. Rejects with a Problem if none has this name. */
export const repoIdOf = ({ db }: Caller, given: string | undefined) =>
  idOf(given, (fullName) => findRepositoryByName(db, fullName), 'repository has this name');

async function idOf(
  given: string | undefined,
  find: (name: string) => Promise<number | undefined>,
  has: string,
): Promise<number | undefined> {
  if (given === undefined) return undefined;
  if (ID.test(given)) return Number(given);
  const found = await find(given);
  if (found === undefined)
    throw wrong(`No known ${has}: ${given}. Give its id, if it has been renamed or removed.`);
  return found;
}

/** A row for each login that an entity had before. */
export const FORMER_LOGINS = sql`(
  select entity_id, key as former, value::timestamptz as left_at from installations cross join jsonb_each_text(former_logins)) former_logins`;

/** The one that has the App, then one that had it, then the one that had this login last. */
export async function findEntityByLogin(db: Db, login: string): Promise<number | undefined> {
  const rows = await rowsOf<{ entityId: number }>(db)`
    select "entityId" from (
      (select 0 as place, entity_id as "entityId" from installations where lower(login) = lower(${login})
        order by deleted_at desc nulls first, updated_at desc limit 1)
      union all
      (select 1, entity_id from ${FORMER_LOGINS} where lower(former) = lower(${login}) order by left_at desc limit 1)
    ) named order by place limit 1`;
  return rows[0]?.entityId;
}

/** The repository with this full name, as discovery or the newest unended job names it. */
export async function findRepositoryByName(db: Db, fullName: string): Promise<number | undefined> {
  const rows = await rowsOf<{ repoId: number }>(db)`
    select "repoId" from (
      select repo_id as "repoId", coalesce(named_at, active_at) as at from repositories where lower(full_name) = lower(${fullName})
      union all
      select repo_id, created_at from jobs where status in ('pending', 'running') and lower(repo_full_name) = lower(${fullName})
    ) named order by at desc limit 1`;
  return rows[0]?.repoId;
}
