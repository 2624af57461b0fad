import { type Kysely, type RawBuilder, sql } from 'kysely';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';
import type { Database } from '../schema/tables.ts';
import { FORMER_LOGINS } from './find-by-name.ts';

/** Something that has an id or a name which a person may have at hand. */
export interface Named {
  readonly kind:
    | 'job'
    | 'run'
    | 'worker'
    | 'operation'
    | 'delivery'
    | 'repository'
    | 'pool'
    | 'entity'
    | 'installation'
    | 'event';
  readonly id: string;
  /** Null: it has none, or no row has it. */
  readonly name: string | null;
}

/** What has this id of GitHub’s, or is the event with it: each by an index. Of runs, those that wait or run. */
export const findByNumber = (db: Kysely<Database>, id: number): Promise<Named[]> =>
  read(
    db,
    sql`
    (select 1 as place, 'job' as kind, ${id}::text as id, job_name as name from jobs where job_id = ${id})
    union all (select 1, 'job', ${id}::text, null from installation_events where job_id = ${id}
      and not exists (select from jobs where job_id = ${id}) limit 1)
    union all (select 2, 'run', ${id}::text, entity_name from jobs where status in ('pending', 'running') and run_id = ${id} limit 1)
    union all (select 2, 'installation', ${id}::text, login from installations where installation_id = ${id} limit 1)
    union all (select 2, 'installation', ${id}::text, null from installation_events where installation_id = ${id}
      and not exists (select from installations where installation_id = ${id}) limit 1)
    union all (select 3, 'entity', ${id}::text, login from installations where entity_id = ${id}
      order by deleted_at desc nulls first, updated_at desc limit 1)
    union all (select 4, 'event', ${id}::text, event from installation_events where id = ${id})`,
  );

/** What has this UUID: an operation, or a delivery that was stored or is missing. */
export const findByUuid = (db: Kysely<Database>, uuid: string): Promise<Named[]> =>
  read(
    db,
    sql`
    (select 1 as place, 'operation' as kind, ${uuid} as id, kind as name from tasks where id = ${uuid}::uuid)
    union all (select 1, 'operation', ${uuid}, kind from operations where id = ${uuid}::uuid)
    union all (select 2, 'delivery', ${uuid}, event from installation_events where delivery_guid = ${uuid} order by id limit 1)
    union all (select 3, 'delivery', ${uuid}, concat_ws('.', event, action) from unresolved_deliveries
      where app_id in (select distinct app_id from installations) and guid = ${uuid}
      and not exists (select from installation_events where delivery_guid = ${uuid}) limit 1)`,
  );

/** What has this name: a worker, a pool, or an entity, also by a former login. */
export const findByName = (db: Kysely<Database>, name: string): Promise<Named[]> =>
  read(
    db,
    sql`
    (select 1 as place, 'worker' as kind, pod_name as id, null as name from workers where pod_name = lower(${name}))
    union all (select 2, 'pool', p ->> 'name', null from ${POOLS_IN_FORCE} where lower(p ->> 'name') = lower(${name}))
    union all (select 3, 'entity', entity_id::text, login from installations where lower(login) = lower(${name})
      order by deleted_at desc nulls first, updated_at desc limit 1)
    union all (select 3, 'entity', entity_id::text, former from ${FORMER_LOGINS} where lower(former) = lower(${name})
      and not exists (select from installations where lower(login) = lower(${name})) order by left_at desc limit 1)`,
  );

async function read(db: Kysely<Database>, named: RawBuilder<unknown>): Promise<Named[]> {
  const { rows } =
    await sql<Named>`select kind, id, name from (${named}) named order by place`.execute(db);
  return rows;
}
