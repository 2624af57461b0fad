import { type Kysely, sql } from 'kysely';
import { milliseconds, NOW } from '../milliseconds.ts';
import type { Database } from '../schema/tables.ts';

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

/** How long a pod stays readable after its worker's end, in milliseconds. */
export interface PodGraces {
  succeededGraceMs: number;
  failedGraceMs: number;
}

export interface EndedPodsQuery extends PodGraces {
  limit: number;
  /** Leaves out the pods of these workers. */
  except: readonly string[];
}

const ENDED_POD = [
  'pod_name as podName',
  'namespace',
  'cluster',
  'pod_uid as podUid',
  sql<boolean>`secret_deleted_at is null`.as('secretLeft'),
  'entity_id as entityId',
] as const;

const graceBegan = ({ succeededGraceMs, failedGraceMs }: PodGraces) =>
  sql<Date>`now() - case status when 'failed' then ${milliseconds(failedGraceMs)} else ${milliseconds(succeededGraceMs)} end`;

/** Pods whose grace is over, the longest ended first. */
export const findEndedPods = (
  db: Kysely<Database>,
  { limit, except, ...graces }: EndedPodsQuery,
): Promise<EndedPod[]> =>
  db
    .selectFrom('workers')
    .select(ENDED_POD)
    .where('completed_at', 'is not', null)
    .where('pod_deleted_at', 'is', null)
    .where('completed_at', '<', graceBegan(graces))
    .where('pod_name', '<>', sql<string>`all(${except}::text[])`)
    .orderBy('completed_at')
    .orderBy('pod_name')
    .limit(limit)
    .execute();

/**
 * Pods beyond `kept` in their namespace whose grace is not over: first those that succeeded, and of
 * each kind the longest ended.
 */
export const findSurplusPods = (
  db: Kysely<Database>,
  { kept, limit, except, ...graces }: EndedPodsQuery & { kept: number },
): Promise<EndedPod[]> =>
  db
    .selectFrom((of) =>
      of
        .selectFrom('workers')
        .selectAll()
        .select([
          sql<number>`count(*) over (partition by cluster, namespace)`.as('there'),
          sql<number>`row_number() over (
            partition by cluster, namespace order by status = 'failed', completed_at, pod_name)`.as(
            'place',
          ),
        ])
        .where('completed_at', 'is not', null)
        .where('pod_deleted_at', 'is', null)
        .where('pod_uid', 'is not', null)
        .where('completed_at', '>=', graceBegan(graces))
        .as('ended'),
    )
    .select(ENDED_POD)
    .where(sql<boolean>`place <= there - ${kept}`)
    .where('pod_name', '<>', sql<string>`all(${except}::text[])`)
    .orderBy(sql`status = 'failed'`)
    .orderBy('completed_at')
    .orderBy('pod_name')
    .limit(limit)
    .execute();

/** Notes that the pods of ended workers are gone. */
export async function markPodsDeleted(
  db: Kysely<Database>,
  podNames: readonly string[],
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('workers')
    .set({ pod_deleted_at: NOW })
    .where('pod_name', 'in', (of) =>
      of
        .selectFrom('workers')
        .select('pod_name')
        .where('pod_name', '=', sql<string>`any(${podNames})`)
        .orderBy('pod_name')
        .forUpdate(),
    )
    .where('completed_at', 'is not', null)
    .where('pod_deleted_at', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
