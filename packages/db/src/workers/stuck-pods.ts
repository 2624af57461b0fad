import { START_FAILURES } from '@paddock/domain/workers/stop-reasons';
import { sql } from 'kysely';
import { rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';
import { LIVE } from '../states/states.ts';

/** Its containers have not started, and nothing in its status says why. */
export const SLOW_START = 'slow_start';
/** It should be gone by now: its node does not answer, or a finalizer holds it. */
export const TERMINATING = 'terminating';

export interface StuckPod {
  podName: string;
  pool: string;
  deliveryGuid: string | null;
  reason: typeof SLOW_START | typeof TERMINATING;
}

/** Keeps the transaction short; the next call finds the rest. */
const MOST_AT_ONCE = 100;

/**
 * Marks pods as stuck that report no change: not started `afterMs` after their creation, or still
 * there `afterMs` after they should be gone. Returns each only once.
 */
export async function markStuckPods(trx: Trx, afterMs: number): Promise<StuckPod[]> {
  const ago = sql`now() - ${milliseconds(afterMs)}`;
  const isOverdue = sql`${LIVE} and pod_uid is not null and case when terminating_at is not null
    then terminating_at < ${ago} and stuck_reason is distinct from ${TERMINATING}
    else status = 'pending' and stuck_reason is null and pod_created_at < ${ago} end`;
  return rowsOf<StuckPod>(trx)`
    with found as materialized (
      -- All of them before any order: in the order of names the planner would rather walk through
      -- every worker ever made.
      select pod_name from workers where ${isOverdue}
    ), overdue as (
      select pod_name, case when terminating_at < ${ago} then ${TERMINATING} else ${SLOW_START} end as reason from workers
      where pod_name = any (array(select pod_name from found order by pod_name limit ${MOST_AT_ONCE})) and ${isOverdue}
      order by pod_name for update
    )
    update workers w set stuck_reason = o.reason, stuck_at = now(),
      failure_info = jsonb_build_object('version', 1, 'message', case o.reason
        when ${TERMINATING} then 'the pod is being deleted and does not go' else 'the pod does not start' end)
    from overdue o where w.pod_name = o.pod_name
    returning w.pod_name as "podName", w.k8s_pool as pool, w.delivery_guid as "deliveryGuid", o.reason`;
}

/** A worker whose pod has not started, for a reason that seldom passes by itself. */
export interface UnstartableWorker {
  podName: string;
  namespace: string;
  podUid: string;
  pool: string;
  reason: (typeof START_FAILURES)[number];
}

const FAILS_TO_START = sql`any(${START_FAILURES}::text[])`;

/**
 * Workers whose pods have failed to start for `afterMs` and that are not stopping. In `windowMs`
 * only a limited number of a pool are stopped, because the next registration may fail alike.
 * Returns any `mostAtOnce` of these: workers that turn out to be pulling are found again each time,
 * and must not keep the others from their turn.
 */
export const findUnstartableWorkers = (
  db: Db,
  {
    afterMs,
    windowMs,
    mostOfPool,
    mostAtOnce,
  }: { afterMs: number; windowMs: number; mostOfPool: number; mostAtOnce: number },
) =>
  rowsOf<UnstartableWorker>(db)`
    with failing as materialized (
      select pod_name, namespace, pod_uid, k8s_pool, stuck_reason, stuck_at from workers
      where status = 'pending' and stuck_reason = ${FAILS_TO_START} and stuck_at < now() - ${milliseconds(afterMs)}
        and pod_uid is not null and running_at is null and assigned_at is null and stopping_at is null
    ), stopped as materialized (
      select k8s_pool, count(*) as count from workers
      where exists (select from failing) and created_at > now() - ${milliseconds(windowMs)}
        and stopping_at is not null and stop_reason = ${FAILS_TO_START}
      group by k8s_pool
    )
    select pod_name as "podName", namespace, pod_uid as "podUid", k8s_pool as pool, stuck_reason as reason
    from (select *, row_number() over (partition by k8s_pool order by stuck_at, pod_name) as place from failing) f
    left join stopped using (k8s_pool)
    where place <= ${mostOfPool}::integer - coalesce(stopped.count, 0)
    order by random() limit ${mostAtOnce}::integer`;
