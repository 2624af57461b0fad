import type { NamedEntity } from '@paddock/domain/pools/entities';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { lockInstallations } from './installations.ts';
import type { Database } from '../schema/tables.ts';
import { DOCUMENT_IN_FORCE } from '../pools/pools-documents.ts';

/**
 * Pins these entities' logins that the pools document in force names: the first entity keeps a
 * login. Returns the ids of entities that `entities` of the document admits by a login of another
 * entity. A login that only a pool names closes that pool to the entity.
 *
 * Call it before the transaction locks anything else. It keeps others from writing installations
 * until the transaction ends: the statement for jobs pins logins too, and would deadlock with us.
 */
export async function pinLogins(
  trx: Transaction<Database>,
  entities: readonly NamedEntity[],
): Promise<ReadonlySet<number>> {
  await lockInstallations(trx);
  if (entities.length === 0) return new Set();
  const { rows } = await sql<{ id: number; owner: number; isListed: boolean }>`
    with document as materialized ${DOCUMENT_IN_FORCE},
    listed as materialized (select lower(key) as key from document, jsonb_object_keys(content -> 'entities') key),
    named as materialized (
      select lower(split_part(one, '/', 1)) as login
      from document, jsonb_array_elements(content -> 'pools') pool,
        jsonb_array_elements_text(coalesce(pool -> 'entities', '[]') || coalesce(pool -> 'repositories', '[]')) one
    ), given as (
      select id, lower(login) as login, position
      from rows from (json_to_recordset(${JSON.stringify(entities)}::json) as (id bigint, login text)) with ordinality as given(id, login, position)
    )
    select id, pin_login(login, id) as owner, is_listed as "isListed" from (
      select id, login, is_listed
      from given cross join lateral (
        select login in (select key from listed) and 'id:' || id not in (select key from listed) as is_listed) admission
      where is_listed or login in (select login from named) order by login, position
    ) pinnable`.execute(trx);
  return new Set(rows.flatMap(({ id, owner, isListed }) => (isListed && id !== owner ? [id] : [])));
}

/** For a WHERE: the login of this row of `installations` is not pinned to another entity. */
export const bearsOwnLogin = (alias: string): RawBuilder<boolean> => sql`not exists (
  select from login_pins p where p.login = lower(${sql.ref(`${alias}.login`)}) and p.entity_id <> ${sql.ref(`${alias}.entity_id`)})`;

/** For an ORDER BY: this row of `installations` is of the entity to which its login is pinned. */
export const isPinned = (alias: string): RawBuilder<boolean> => sql`exists (
  select from login_pins p where p.login = lower(${sql.ref(`${alias}.login`)}) and p.entity_id = ${sql.ref(`${alias}.entity_id`)})`;
