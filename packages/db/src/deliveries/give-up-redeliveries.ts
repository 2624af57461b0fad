import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/**
 * Discovery looks at these repositories next, before all that are merely due. `lost` has rows of
 * unresolved deliveries.
 */
const handOverToDiscovery = (lost: string) =>
  sql.raw(`
    insert into repositories as known (repo_id, entity_id, app_id, active_at, due_at)
    select distinct on (l.repository_id) l.repository_id, i.entity_id, i.app_id, now(), now() - interval '1 day'
    from ${lost} l join installations i on i.installation_id = l.installation_id where l.repository_id is not null
    order by l.repository_id, i.entity_id
    on conflict (repo_id) do update set active_at = now(), due_at = least(known.due_at, excluded.due_at)
    returning repo_id`);

/**
 * While more than `most` deliveries are unresolved, hands their repositories to discovery, which is
 * faster than requests. Returns how many.
 */
export async function handOverUnresolved(
  db: Kysely<Database>,
  appId: number,
  most: number,
): Promise<number> {
  const { rows } = await sql`
    with unresolved as (
      select * from unresolved_deliveries where app_id = ${appId} and resolved_at is null
    ), lost as (
      select * from unresolved where event = 'workflow_job' and (select count(*) from unresolved) > ${most}
    ) ${handOverToDiscovery('lost')}`.execute(db);
  return rows.length;
}

/**
 * Gives up deliveries that GitHub can no longer repeat. Appends an event for each and hands their
 * repositories to discovery, in one statement. Returns how many.
 */
export async function giveUpRedeliveries(
  db: Kysely<Database>,
  appId: number,
  olderThanMs: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with given_up as (
      delete from unresolved_deliveries
      where app_id = ${appId} and resolved_at is null and first_failed_at < now() - ${milliseconds(olderThanMs)}
      returning *
    ), handed_over as (${handOverToDiscovery('given_up')})
    insert into installation_events (source, event, outcome, app_id, installation_id, repo_id, delivery_guid, payload)
    select 'reconciler', concat_ws('.', event, action), 'redelivery_given_up', app_id, installation_id, repository_id, guid,
      jsonb_build_object('delivery_id', delivery_id::text, 'first_failed_at', first_failed_at, 'last_failed_at', last_failed_at,
        'last_status_code', last_status_code, 'requests', requests)
    from given_up`.execute(db);
  return Number(numAffectedRows);
}
