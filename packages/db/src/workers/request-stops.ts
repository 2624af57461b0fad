import { JOBLESS_REASONS, type StopReason } from '@paddock/domain/workers/stop-reasons';
import { sql, type Transaction } from 'kysely';
import { RUNS_BOUND_JOB } from './assigned-workers.ts';
import type { Database } from '../schema/tables.ts';
import { isLive } from '../states/worker-states.ts';

export interface StopRequest {
  readonly podName: string;
  readonly reason: StopReason;
}

/**
 * No job is known to run on worker `w`, and it is not stopping; if asked for as `over`, it may have
 * had a job.
 */
const mayBeAsked = (reason: string) =>
  sql`${isLive('w')} and w.stopping_at is null
    and (w.assigned_at is null or (${sql.ref(reason)} = 'over' and not ${RUNS_BOUND_JOB}))`;

/**
 * How old an answer of GitHub about a job may be when a worker is stopped and another is made for
 * its jobs, and the longest wait of the other for it. A look-up takes seconds; where many workers
 * stop in a row, each job is looked up once in that time.
 */
export const ANSWER_AGE_LIMIT = sql`interval '5 minutes'`;

/**
 * Requests the stop of workers: from now on they are no supply. A worker that got no job although
 * one waited counts against one waiting job, like an unexplained end, until GitHub has said that
 * its key's jobs still wait: that job may have been cancelled without a delivery.
 *
 * Each needs its `stop-worker` task in the same transaction. Workers that have ended, are assigned
 * or are stopping are left alone; returns the names of the others.
 */
export async function requestStops(
  trx: Transaction<Database>,
  requests: readonly StopRequest[],
): Promise<string[]> {
  const { rows } = await sql<{ podName: string }>`
    with asked as (
      select * from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as given("podName" text, reason text)
    ), locked as (
      select w.pod_name, asked.reason from workers w join asked on asked."podName" = w.pod_name
      where ${mayBeAsked('asked.reason')}
      order by w.pod_name for no key update of w
    )
    update workers w set stopping_at = now(), stop_reason = locked.reason,
      unexplained_until = case when locked.reason = any(${JOBLESS_REASONS}::text[]) then now() + ${ANSWER_AGE_LIMIT} end
    from locked where w.pod_name = locked.pod_name and ${mayBeAsked('locked.reason')}
    returning w.pod_name as "podName"`.execute(trx);
  return rows.map(({ podName }) => podName);
}
