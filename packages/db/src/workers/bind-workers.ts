import { sql, type Transaction } from 'kysely';
import { takeBackFailures } from './worker-failures.ts';
import type { Database } from '../schema/tables.ts';

export interface Binding {
  readonly worker: string;
  readonly jobId: number;
}

/**
 * A failure of it may have been counted: it has ended, is stopping or does not start; or its
 * failure was counted before this statement, and the pod has started since.
 */
const IS_SUSPECT = sql<boolean>`
  (workers.completed_at is not null or workers.stopping_at is not null or workers.stuck_reason is not null
    or exists (select from breakers b where b.subject_type = 'pool' and b.workers @> array[workers.pod_name]))`;

/**
 * Assigns workers to the jobs that GitHub says they run. A runner runs one job in its life, so a
 * bound worker stays as it is. The job explains an unexplained end, and takes back a failure that
 * was counted against the pool. Locks workers in order of their names, after any jobs.
 */
export async function bindWorkers(
  trx: Transaction<Database>,
  bindings: readonly Binding[],
): Promise<void> {
  if (bindings.length === 0) return;
  const { rows } = await sql<{ podName: string; isSuspect: boolean }>`
    with binding as (
      select worker, min(job_id) as job_id
      from unnest(${bindings.map(({ worker }) => worker)}::text[], ${bindings.map(({ jobId }) => jobId)}::bigint[]) as given(worker, job_id)
      group by worker
    ), locked as (
      select workers.pod_name, binding.job_id from workers join binding on binding.worker = workers.pod_name
      where workers.assigned_job_id is null order by workers.pod_name for no key update of workers
    )
    update workers set assigned_job_id = locked.job_id, assigned_at = coalesce(workers.assigned_at, now()), unexplained_until = null
    from locked where workers.pod_name = locked.pod_name and workers.assigned_job_id is null
    returning workers.pod_name as "podName", ${IS_SUSPECT} as "isSuspect"`.execute(trx);
  // A separate statement sees failures that were counted while this one waited for the worker.
  await takeBackFailures(
    trx,
    rows.filter(({ isSuspect }) => isSuspect).map(({ podName }) => podName),
  );
}
