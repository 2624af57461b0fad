import { sql, type Transaction } from 'kysely';
import { installationToday } from '../entities/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { type JobsOfKey, oldestUncovered } from './uncovered-jobs.ts';
import { newWorkerName } from '../workers/worker-name.ts';
import { DOCUMENT_IN_FORCE } from '../pools/pools-documents.ts';

export interface ReservedWorker {
  podName: string;
  pool: string;
  demandKey: number;
  /** Null: it is kept warm. */
  madeForJobId: number | null;
  deliveryGuid: string | null;
}

/**
 * Inserts the given number of workers for the oldest waiting jobs of each key, with the App that
 * serves their entity today. It reads jobs and never writes them. If a name is taken, it makes one
 * fewer, and the next pass makes up for it; that takes about 2^24 workers of a pool.
 */
export async function reserveWorkers(
  trx: Transaction<Database>,
  keys: readonly JobsOfKey[],
  appIds: readonly number[],
): Promise<ReservedWorker[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<ReservedWorker>`${prepared}
    with ${oldestUncovered(keys)},
    document as ${DOCUMENT_IN_FORCE},
    pools as (
      select p ->> 'name' as name, p ->> 'image' as image, p ->> 'namespace' as namespace
      from document cross join jsonb_array_elements(content -> 'pools') p
    )
    insert into workers (pod_name, provider, entity_id, entity_name, entity_type, app_id, installation_id, repo_full_name, scope_repo_id,
      job_labels, made_for_job_id, delivery_guid, k8s_pool, k8s_image, pools_version, namespace)
    select ${newWorkerName(sql.ref('instance.instance_id'), sql.ref('o.k8s_pool'))},
      o.provider, o.entity_id, o.entity_name, o.entity_type, coalesce(i.app_id, o.app_id), coalesce(i.installation_id, o.installation_id),
      case when o.entity_type = 'User' then o.repo_full_name end, o.scope_repo_id,
      o.job_labels, o.job_id, o.delivery_guid, o.k8s_pool, p.image, d.version, p.namespace
    from oldest o join pools p on p.name = o.k8s_pool cross join instance cross join document d ${installationToday('o', appIds)}
    order by o.created_at, o.job_id
    on conflict (pod_name) do nothing
    returning pod_name as "podName", k8s_pool as pool, demand_key as "demandKey", made_for_job_id as "madeForJobId",
      delivery_guid as "deliveryGuid"`.execute(trx);
  return rows;
}
