import type { InstallationEvent } from '@paddock/domain/entities/installation-facts';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/**
 * The newest `most` events about an installation itself, with the parts of their payloads that its
 * state needs. A replay under another GUID says nothing.
 */
export async function findInstallationEvents(
  db: Kysely<Database>,
  installationId: number,
  most: number,
): Promise<InstallationEvent[]> {
  const { rows } = await sql<InstallationEvent>`
    select id::text as id, event, delivery_guid as guid, received_at as "receivedAt",
      jsonb_build_object(
        'installation', payload -> 'installation', 'account', payload -> 'account', 'repository_selection', payload -> 'repository_selection',
        'repositories', ${named('repositories')}, 'repositories_added', ${named('repositories_added')},
        'repositories_removed', ${named('repositories_removed')}) as payload
    from installation_events
    where installation_id = ${installationId} and event like 'installation%' and source = 'webhook' and outcome <> 'repeated_body'
    order by received_at desc, installation_events.id desc limit ${most}`.execute(db);
  return rows;
}

/** The ids and names of a list of repositories. */
const named = (field: string) => sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', one -> 'id', 'full_name', one -> 'full_name'))
  from jsonb_path_query(payload, ${sql.lit(`lax $.${field}[*]`)}) one where jsonb_typeof(one) = 'object'), '[]')`;
