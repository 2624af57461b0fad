import type { NamedAccount } from '@paddock/domain/pools/entities';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { lockInstallations } from './installations.ts';
import type { Database } from '../schema/tables.ts';

/**
 * Pins the logins of these accounts, as far as the pools document in force admits them by login, to the account that comes first. Returns
 * the ids of those whose login belongs to another account. To be called before a transaction locks anything else. Also keeps others from
 * writing installations until the transaction ends: the statement for jobs, which pins logins itself, may write them and would wait for us.
 */
export async function pinLogins(trx: Transaction<Database>, accounts: readonly NamedAccount[]): Promise<ReadonlySet<number>> {
  await lockInstallations(trx);
  if (accounts.length === 0) return new Set();
  const { rows } = await sql<{ id: number; owner: number }>`
    with listed as materialized (
      select lower(key) as key
      from (select content from pools_documents order by version desc limit 1) document, jsonb_object_keys(content -> 'entities') key
    ), given as (
      select id, lower(login) as login, position
      from rows from (json_to_recordset(${JSON.stringify(accounts)}::json) as (id bigint, login text)) with ordinality as given(id, login, position)
    )
    select id, pin_login(login, id) as owner from (
      select id, login from given
      where login in (select key from listed) and 'id:' || id not in (select key from listed) order by login, position
    ) named`.execute(trx);
  return new Set(rows.flatMap(({ id, owner }) => (id === owner ? [] : id)));
}

/** For an ORDER BY: this row of `installations` is of the account to which its login is pinned. */
export const isPinned = (alias: string): RawBuilder<boolean> => sql`exists (
  select from login_pins p where p.login = lower(${sql.ref(`${alias}.login`)}) and p.entity_id = ${sql.ref(`${alias}.entity_id`)})`;
