import { exactText, isOnPage, type PageOfTime } from '@paddock/db/people/newest-first';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { ended, type ListedOperation, type Row, toListed, UNFINISHED } from './read-operations.ts';

/** Unfinished tasks are few. An operation has its entity in its row. */
const ofEntity = (entityId: number) => sql`case subject_type
  when 'worker' then exists (select from workers w where w.pod_name = subject_id and w.entity_id = ${entityId})
  when 'key' then exists (select from demand_keys d where d.demand_key::text = subject_id and d.entity_id = ${entityId})
  when 'repository' then exists (
    select from installations i where i.entity_id = ${entityId} and lower(i.login) = lower(split_part(subject_id, '/', 1)))
  when 'installation' then exists (
    select from installations i where i.entity_id = ${entityId} and i.installation_id::text = subject_id)
  else false end`;

/** The operations of an entity's workers, keys, repositories and installations, in the order of their enqueuing, the newest first. */
export async function listEntityOperations(
  db: Kysely<Database>,
  entityId: number,
  page: PageOfTime<string>,
): Promise<ListedOperation[]> {
  const at = sql`queued_at`;
  const onPage = isOnPage({ id: sql`id`, idType: sql`uuid` }, page, at);
  const newest = sql`order by queued_at desc, id desc limit ${page.limit}`;
  const { rows } = await sql<Row & { at: string }>`
    select *, ${exactText(at)} as at from (
      (${UNFINISHED} where ${onPage} and ${ofEntity(entityId)} ${newest})
      union all
      (${ended(sql`null::jsonb`)} where entity_id = ${entityId} and expires_at > now() and ${onPage} ${newest})
    ) found ${newest}`.execute(db);
  return rows.map(toListed);
}
