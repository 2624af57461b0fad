import { LAST_STARTS } from '@paddock/domain/why/estimate-start';
import type { StartFacts } from '@paddock/domain/why/wait-facts';
import { sql, type Transaction } from 'kysely';
import type { Database, Status } from '../schema/tables.ts';
import { LIVE } from '../states/worker-states.ts';

/**
 * The index finds an entity's workers in a pool. Those of one key are found among them, which for a
 * personal account are those of one repository.
 */
const MOST_READ = 1_000;

/** A warm worker waits for its job. Its way is that of its pod. */
const RESERVED_AT = sql`case when is_warm and running_at < assigned_at then assigned_at - (running_at - created_at) else created_at end`;

/** A key among those of its entity and pool. */
interface Key {
  readonly demandKey: number;
  readonly entityId: number;
  readonly pool: string;
}

/**
 * The workers of a key that have a job, and the last that had one. The more have one, the more that
 * ended belong to the same time.
 */
export async function findStartsOfKey(
  trx: Transaction<Database>,
  { demandKey, entityId, pool }: Key,
): Promise<StartFacts[]> {
  const endedAs = (status: Status) => sql`
    select * from (
      select * from workers
      where entity_id = ${entityId} and k8s_pool = ${pool} and status = ${status} and completed_at is not null
        and created_at > now() - interval '30 days'
      order by created_at desc, pod_name desc limit ${MOST_READ}
    ) newest where demand_key = ${demandKey} and assigned_at is not null`;
  const { rows } = await sql<StartFacts>`
    with busy as materialized (
      select * from workers where demand_key = ${demandKey} and ${LIVE} and assigned_at is not null
    ), ended as (
      select * from (${endedAs('completed')} union all ${endedAs('failed')}) either
      order by created_at desc limit ${LAST_STARTS} + (select count(*) from busy)
    )
    select ${RESERVED_AT} as "reservedAt", assigned_at as "startedAt", completed_at as "endedAt"
    from (select * from busy union all select * from ended) known`.execute(trx);
  return rows;
}
