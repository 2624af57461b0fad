import type { KeyState } from '@paddock/domain/matching/key-states';
import { sql, type Transaction } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';

/**
 * Stores the findings of a pass about keys. A reason that stays keeps its first instant; one that
 * changes leaves its time to `wait_reason_changes`.
 */
export async function saveKeyStates(
  trx: Transaction<Database>,
  states: readonly KeyState[],
): Promise<void> {
  if (states.length === 0) return;
  await sql`${prepared}
    with state as (
      select * from jsonb_to_recordset(${JSON.stringify(states)}::jsonb) as state("demandKey" bigint, "entityId" bigint, "entityName" text,
        "scopeRepoId" bigint, pool text, waiting integer, unassigned integer, cap integer, "waitReason" text)
    ), ended as (
      insert into wait_reason_changes (demand_key, reason, since, until)
      select k.demand_key, k.wait_reason, k.wait_since, now() from demand_keys k join state on "demandKey" = k.demand_key
      where k.wait_reason is not null and k.wait_reason is distinct from "waitReason"
    )
    insert into demand_keys as d (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, cap, wait_reason, wait_since)
    select "demandKey", "entityId", "entityName", "scopeRepoId", pool, waiting, unassigned, cap, "waitReason",
      case when "waitReason" is not null then now() end
    from state
    on conflict (demand_key) do update
      set entity_name = excluded.entity_name, waiting = excluded.waiting, unassigned = excluded.unassigned, cap = excluded.cap,
        wait_reason = excluded.wait_reason,
        wait_since = case when d.wait_reason is distinct from excluded.wait_reason then excluded.wait_since else d.wait_since end,
        updated_at = now()`.execute(trx);
}

/**
 * The row of a key stays without waiting jobs: its workers failed within the last day. Most
 * entities never come back.
 */
export const IS_KEPT = sql.raw<boolean>(`(failures > 0 and failed_at > now() - interval '1 day')`);

/**
 * Ends the reasons of keys without waiting jobs. Removes their rows, unless their workers failed
 * within the last day.
 */
export async function forgetRestingKeys(trx: Transaction<Database>): Promise<void> {
  await sql`${prepared}
    with resting as materialized (
      select demand_key, wait_reason, wait_since,
        ${IS_KEPT} as is_kept
      from demand_keys d
      where (waiting > 0 or not ${IS_KEPT}) and not exists (select from jobs j where j.demand_key = d.demand_key and j.wants_worker)
      order by demand_key for update
    ), emptied as (
      update demand_keys d set waiting = 0, unassigned = 0, wait_reason = null, wait_since = null, updated_at = now()
      from resting where is_kept and d.demand_key = resting.demand_key
    ), removed as (
      delete from demand_keys d using resting where not is_kept and d.demand_key = resting.demand_key
    )
    insert into wait_reason_changes (demand_key, reason, since, until)
    select demand_key, wait_reason, wait_since, now() from resting where wait_reason is not null`.execute(
    trx,
  );
}
