import type { Reservation } from '@paddock/domain/matching/pick-unwanted';
import { type Kysely, sql, type Transaction } from 'kysely';
import { loginToday } from '../entities/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { RESERVED, UNASSIGNED } from '../states/worker-states.ts';

interface Row extends Omit<Reservation, 'podName' | 'stopping' | 'installationId'> {
  workers: { podName: string; stopping: boolean; installationId: number; createdAt: number }[];
}

/**
 * Workers that have not begun to register, the newest first, with demand and supply of their keys.
 */
export async function findReservations(db: Kysely<Database>): Promise<Reservation[]> {
  // Grouped by key: PostgreSQL joins nothing whose number it did not know when it made the plan.
  const { rows } = await sql<Row>`${prepared}
    with keys as materialized (
      select demand_key, entity_id, scope_repo_id, k8s_pool, min(entity_name) as entity_name,
        json_agg(json_build_object('podName', pod_name, 'stopping', stopping_at is not null, 'installationId', installation_id,
          'createdAt', extract(epoch from created_at))) as workers
      from workers where ${RESERVED}
      group by demand_key, entity_id, scope_repo_id, k8s_pool
    )
    select u.demand_key as "demandKey", u.entity_id as "entityId", ${loginToday('u')} as login, u.scope_repo_id as "scopeRepoId",
      u.k8s_pool as pool, u.workers, (select count(*) from jobs j where j.demand_key = u.demand_key and wants_worker) as waiting,
      (select count(*) from workers w where w.demand_key = u.demand_key and ${UNASSIGNED}) as unassigned
    from keys u`.execute(db);
  const reservations = rows.flatMap(({ workers, ...key }) =>
    workers.map((worker) => Object.assign(worker, key)),
  );
  return reservations.toSorted(
    (a, b) => b.createdAt - a.createdAt || (a.podName < b.podName ? -1 : 1),
  );
}

/** Ends reservations; `lockPlanned` holds their rows. */
export async function giveBackWorkers(
  trx: Transaction<Database>,
  podNames: readonly string[],
): Promise<void> {
  if (podNames.length === 0) return;
  // By name alone: with a further condition PostgreSQL may read an index of few workers anew for
  // each of them.
  await sql`${prepared}
    update workers
    set status = 'failed', completed_at = now(), stop_reason = coalesce(stop_reason, 'unwanted'),
      failure_info = jsonb_build_object('version', 1, 'message', 'no longer wanted')
    where pod_name = any(${podNames}::text[])`.execute(trx);
}
