import { sql, type Transaction } from 'kysely';
import { forgottenFailures } from './failing-keys.ts';
import type { Database } from '../schema/tables.ts';

export interface Binding {
  readonly worker: string;
  readonly jobId: number;
}

/**
 * Assigns workers to the jobs that GitHub says they run. A runner runs one job in its life, so a
 * bound worker stays as it is. The job explains an unexplained end, and is a success of the worker's
 * key. Locks workers in order of their names, after any jobs, and then keys in order.
 */
export async function bindWorkers(
  trx: Transaction<Database>,
  bindings: readonly Binding[],
): Promise<void> {
  if (bindings.length === 0) return;
  await sql`
    with binding as (
      select worker, min(job_id) as job_id
      from unnest(${bindings.map(({ worker }) => worker)}::text[], ${bindings.map(({ jobId }) => jobId)}::bigint[]) as given(worker, job_id)
      group by worker
    ), locked as (
      select workers.pod_name, binding.job_id from workers join binding on binding.worker = workers.pod_name
      where workers.assigned_job_id is null order by workers.pod_name for no key update of workers
    ), bound as (
      update workers set assigned_job_id = locked.job_id, assigned_at = coalesce(workers.assigned_at, now()), unexplained_until = null
      from locked where workers.pod_name = locked.pod_name and workers.assigned_job_id is null
      returning workers.demand_key
    ), ${forgottenFailures}
    select from bound`.execute(trx);
}
