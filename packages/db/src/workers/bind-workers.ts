import { sql, type Transaction } from 'kysely';
import { takeBackFailures } from './worker-failures.ts';
import type { Database } from '../schema/tables.ts';

export interface Binding {
  readonly worker: string;
  readonly jobId: number;
}

/**
 * Something may have been counted of it: it has ended, is being stopped or does not start; or it
 * was counted before this statement began, and the pod has started since.
 */
const IS_SUSPECT = sql<boolean>`
  (workers.completed_at is not null or workers.stopping_at is not null or workers.stuck_reason is not null
    or exists (select from breakers b where b.subject_type = 'pool' and b.workers @> array[workers.pod_name]))`;

/**
 * Makes workers known as assigned to the job that GitHub says they run. A runner runs one job in
 * its life, so a worker that is bound stays as it is; an end that nobody could explain is explained
 * by it, and one that was counted against its pool is taken back. Workers are locked in order of
 * name, after any jobs.
 */
export async function bindWorkers(trx: Transaction<Database>, bindings: readonly Binding[]): Promise<void> {
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
  // In a statement of its own, which sees what was counted while this one waited for the worker.
  await takeBackFailures(
    trx,
    rows.filter(({ isSuspect }) => isSuspect).map(({ podName }) => podName),
  );
}
