import { type Kysely, sql } from 'kysely';
import type { Database } from './tables.ts';

/** The pod of a worker that ended, as far as its row knows it. */
export interface EndedPod {
  podName: string;
  namespace: string;
  cluster: string;
  /** Null: the row ended before anybody saw its pod. */
  podUid: string | null;
  /** As PostgreSQL writes it: a Date would cut the microseconds off, and a batch that begins behind it would repeat rows. */
  completedAt: string;
}

export interface EndedPodsQuery {
  /** How long a pod stays readable after its worker's end, in milliseconds. */
  succeededGraceMs: number;
  failedGraceMs: number;
  limit: number;
  /** The last row of the batch before, to go on behind it. */
  after?: Pick<EndedPod, 'completedAt' | 'podName'> | undefined;
}

/** Pods whose grace is over (E7), the longest ended first. */
export async function findEndedPods(db: Kysely<Database>, query: EndedPodsQuery): Promise<EndedPod[]> {
  const { succeededGraceMs, failedGraceMs, limit, after } = query;
  const { rows } = await sql<EndedPod>`
    select pod_name as "podName", namespace, cluster, pod_uid as "podUid", completed_at::text as "completedAt"
    from workers
    where completed_at is not null and pod_deleted_at is null
      and completed_at < now() - case status when 'failed' then ${failedGraceMs}::float8 else ${succeededGraceMs}::float8 end * interval '1 millisecond'
      and (completed_at, pod_name) > (${after?.completedAt ?? '-infinity'}::timestamptz, ${after?.podName ?? ''})
    order by completed_at, pod_name
    limit ${limit}`.execute(db);
  return rows;
}

/** Notes that the pods of ended workers are gone. */
export async function markPodsDeleted(db: Kysely<Database>, podNames: readonly string[]): Promise<number> {
  const { rows } = await sql`
    update workers set pod_deleted_at = now()
    where pod_name in (select pod_name from workers where pod_name = any(${podNames}::text[]) order by pod_name for update)
      and completed_at is not null and pod_deleted_at is null
    returning pod_name`.execute(db);
  return rows.length;
}
