import { sql } from 'kysely';
import { milliseconds } from '../milliseconds.ts';
import { rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';

/** The pod of a worker that ended, as far as its row knows it. */
export interface EndedPod {
  podName: string;
  namespace: string;
  cluster: string;
  /** Null: the row ended before its pod was seen. */
  podUid: string | null;
  /** Its Secret is not known to be deleted. */
  secretLeft: boolean;
  entityId: number;
}

export interface EndedPodsQuery {
  /** How long a pod stays readable after its worker's end, in milliseconds. */
  succeededGraceMs: number;
  failedGraceMs: number;
  /** Most pods of a namespace to keep until their grace is over. */
  kept: number;
  limit: number;
  /** Leaves out the pods of these workers. */
  except: readonly string[];
}

/**
 * Pods whose grace is over, the longest ended first. Then those beyond `kept` in their namespace:
 * first those that succeeded, and of each kind the longest ended.
 */
export const findEndedPods = (
  db: Db,
  { succeededGraceMs, failedGraceMs, kept, limit, except }: EndedPodsQuery,
) =>
  rowsOf<EndedPod>(db)`
    select pod_name as "podName", namespace, cluster, pod_uid as "podUid", secret_deleted_at is null as "secretLeft", entity_id as "entityId"
    from (
      select *, count(*) over of_namespace as there,
        row_number() over (of_namespace order by status = 'failed', completed_at, pod_name) as place
      from (
        select *, pod_uid is not null as has_pod, completed_at < now()
          - case status when 'failed' then ${milliseconds(failedGraceMs)} else ${milliseconds(succeededGraceMs)} end as is_over
        from workers where completed_at is not null and pod_deleted_at is null
      ) ended
      window of_namespace as (partition by cluster, namespace, is_over, has_pod)
    ) placed
    where (is_over or (has_pod and place <= there - ${kept})) and pod_name <> all(${except}::text[])
    order by not is_over, not is_over and status = 'failed', completed_at, pod_name limit ${limit}`;

/** Notes that the pods of ended workers are gone. */
export async function markPodsDeleted(db: Db, podNames: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    update workers set pod_deleted_at = now()
    where pod_name in (select pod_name from workers where pod_name = any(${podNames}) order by pod_name for update)
      and completed_at is not null and pod_deleted_at is null`.execute(db);
  return Number(numAffectedRows);
}

/**
 * Notes that the cluster has these pods. A list may have lacked them, or a restore brought them back;
 * the sweep deletes those of ended workers again.
 */
export async function markPodsThere(db: Db, podNames: readonly string[]): Promise<void> {
  await sql`
    update workers set pod_deleted_at = null
    where pod_name in (select pod_name from workers where pod_name = any(${podNames}) and pod_deleted_at is not null order by pod_name for update)`.execute(
    db,
  );
}
