import type { WorkerFacts } from '@paddock/domain/why/wait-facts';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { LIVE } from '../states/worker-states.ts';

/** The workers of a key that live and have no job. */
export async function findWorkersOfKey(
  trx: Transaction<Database>,
  demandKey: number,
): Promise<WorkerFacts[]> {
  const { rows } = await sql<WorkerFacts>`
    select pod_name as name, created_at as "createdAt", registration_started_at is not null as "hasBegunRegistration",
      registered_at is not null as "isRegistered", pod_uid is not null as "hasPod", status = 'running' as "isRunning",
      offline_since is not null as "isOffline", stopping_at is not null as "isStopping", unschedulable_at is not null as "isUnschedulable", stuck_reason as "stuckReason",
      failure_info ->> 'message' as diagnosis
    from workers where demand_key = ${demandKey} and ${LIVE} and assigned_at is null`.execute(trx);
  return rows;
}
