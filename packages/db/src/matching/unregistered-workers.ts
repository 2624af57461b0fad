import type { Unregistered } from '@paddock/domain/matching/pick-unwanted';
import { type Kysely, sql, type Transaction } from 'kysely';
import { loginToday } from '../accounts/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';

interface Row extends Omit<Unregistered, 'podName' | 'stopping'> {
  workers: { podName: string; stopping: boolean; createdAt: number }[];
}

/** Reservations that nobody has begun to register at GitHub, the newest first, with demand and supply of their keys. */
export async function findUnregisteredWorkers(db: Kysely<Database>): Promise<Unregistered[]> {
  // Grouped by key, so that nothing is joined whose number was unknown when the plan was made.
  const { rows } = await sql<Row>`${prepared}
    with keys as materialized (
      select demand_key, entity_id, scope_repo_id, k8s_pool, min(entity_name) as entity_name,
        json_agg(json_build_object('podName', pod_name, 'stopping', stopping_at is not null, 'createdAt', extract(epoch from created_at))) as workers
      from workers where status = 'pending' and registration_started_at is null and pod_uid is null
      group by demand_key, entity_id, scope_repo_id, k8s_pool
    )
    select u.demand_key as "demandKey", u.entity_id as "entityId", ${loginToday('u')} as login, u.scope_repo_id as "scopeRepoId",
      u.k8s_pool as pool, u.workers, (select count(*) from jobs j where j.demand_key = u.demand_key and wants_worker) as waiting,
      (select count(*) from workers w where w.demand_key = u.demand_key and status in ('pending', 'running')
        and assigned_at is null and stopping_at is null) as unassigned
    from keys u`.execute(db);
  const unregistered = rows.flatMap(({ workers, ...key }) => workers.map((worker) => Object.assign(worker, key)));
  return unregistered.toSorted((a, b) => b.createdAt - a.createdAt || (a.podName < b.podName ? -1 : 1));
}

/**
 * Ends reservations that are wanted no more. Returns the names of those that it ended: a row that its provisioning is just now marking is
 * passed over, so this never waits and never takes back a registration.
 */
export async function giveBackWorkers(trx: Transaction<Database>, podNames: readonly string[]): Promise<string[]> {
  if (podNames.length === 0) return [];
  const { rows } = await sql<{ pod_name: string }>`${prepared}
    with locked as (
      select pod_name from workers
      where pod_name = any(${podNames}::text[]) and status = 'pending' and registration_started_at is null and pod_uid is null
      order by pod_name for update skip locked
    )
    update workers w
    set status = 'failed', completed_at = now(), stop_reason = coalesce(w.stop_reason, 'unwanted'),
      failure_info = jsonb_build_object('version', 1, 'message', 'no longer wanted')
    from locked
    -- By name alone: what is locked stays as it was checked, and with a condition more an index of few workers is read anew for each of them.
    where w.pod_name = locked.pod_name
    returning w.pod_name`.execute(trx);
  return rows.map((row) => row.pod_name);
}
