import type { Unregistered } from '@paddock/domain/pick-unwanted';
import { type Kysely, sql, type Transaction } from 'kysely';
import { prepared } from './prepared.ts';
import type { Database } from './tables.ts';

/** Reservations that nobody has begun to register at GitHub, the newest first, with demand and supply of their keys. */
export async function findUnregisteredWorkers(db: Kysely<Database>): Promise<Unregistered[]> {
  const { rows } = await sql<Unregistered>`${prepared}
    with unregistered as materialized (
      select pod_name, demand_key, entity_id, entity_name, app_id, scope_repo_id, k8s_pool, stopping_at, created_at
      from workers where status = 'pending' and registration_started_at is null and pod_uid is null
    ),
    keys as (
      select demand_key, (select count(*) from jobs j where j.demand_key = u.demand_key and wants_worker) as waiting,
        (select count(*) from workers w where w.demand_key = u.demand_key and status in ('pending', 'running')
          and assigned_at is null and stopping_at is null) as unassigned
      from (select distinct demand_key from unregistered) u
    )
    select u.pod_name as "podName", u.demand_key as "demandKey", u.entity_id as "entityId", coalesce(i.login, u.entity_name) as login,
      u.scope_repo_id as "scopeRepoId", u.k8s_pool as pool, u.stopping_at is not null as stopping, k.waiting, k.unassigned
    from unregistered u
    join keys k using (demand_key)
    left join lateral (
      select login from installations
      where entity_id = u.entity_id and deleted_at is null order by app_id = u.app_id desc, stated_at desc limit 1
    ) i on true
    order by u.created_at desc, u.pod_name`.execute(db);
  return rows;
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
    where w.pod_name = locked.pod_name and w.status = 'pending' and w.registration_started_at is null
    returning w.pod_name`.execute(trx);
  return rows.map((row) => row.pod_name);
}
