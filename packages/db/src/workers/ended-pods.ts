import { type Kysely, sql } from 'kysely';
import { milliseconds } from '../milliseconds.ts';
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

const ENDED_POD = sql`pod_name as "podName", namespace, cluster, pod_uid as "podUid", secret_deleted_at is null as "secretLeft",
  entity_id as "entityId"`;

const graceBegan = ({ succeededGraceMs, failedGraceMs }: PodGraces) =>
  sql`now() - case status when 'failed' then ${milliseconds(failedGraceMs)} else ${milliseconds(succeededGraceMs)} end`;

/** Pods whose grace is over, the longest ended first. */
export async function findEndedPods(
  db: Kysely<Database>,
  query: EndedPodsQuery,
): Promise<EndedPod[]> {
  const { limit, except, ...graces } = query;
  const { rows } = await sql<EndedPod>`
    select ${ENDED_POD} from workers
    where completed_at is not null and pod_deleted_at is null
      and completed_at < ${graceBegan(graces)} and pod_name <> all(${except}::text[])
    order by completed_at, pod_name
    limit ${limit}`.execute(db);
  return rows;
}

/**
 * Pods beyond `kept` in their namespace whose grace is not over: first those that succeeded, and of
 * each kind the longest ended.
 */
export async function findSurplusPods(
  db: Kysely<Database>,
  { kept, limit, except, ...graces }: EndedPodsQuery & { kept: number },
): Promise<EndedPod[]> {
  const { rows } = await sql<EndedPod>`
    select ${ENDED_POD} from (
      select *, count(*) over (partition by cluster, namespace) as there,
        row_number() over (partition by cluster, namespace order by status = 'failed', completed_at, pod_name) as place
      from workers where completed_at is not null and pod_deleted_at is null and pod_uid is not null
        and completed_at >= ${graceBegan(graces)}) ended
    where place <= there - ${kept} and pod_name <> all(${except}::text[])
    order by status = 'failed', completed_at, pod_name
    limit ${limit}`.execute(db);
  return rows;
}

/** Notes that the pods of ended workers are gone. */
export async function markPodsDeleted(
  db: Kysely<Database>,
  podNames: readonly string[],
): Promise<number> {
  const { rows } = await sql`
    update workers set pod_deleted_at = now()
    where pod_name in (select pod_name from workers where pod_name = any(${podNames}::text[]) order by pod_name for update)
      and completed_at is not null and pod_deleted_at is null
    returning pod_name`.execute(db);
  return rows.length;
}
