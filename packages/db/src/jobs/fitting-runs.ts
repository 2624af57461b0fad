import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** A workflow run with pending jobs. */
export interface FittingRun {
  runId: number;
  repoFullName: string;
  /** The ids of these jobs. */
  jobIds: number[];
}

/**
 * The runs whose pending or waiting jobs GitHub may have given to this worker: in its scope, with
 * no label that it was not registered with. The newest come first, of those older than
 * `readFrom` if it is given; one more than `limit` means that there are more.
 */
export async function findFittingRuns(
  db: Kysely<Database>,
  podName: string,
  { limit, readFrom }: { limit: number; readFrom: number | null },
): Promise<FittingRun[]> {
  const { rows } = await sql<FittingRun>`
    select j.run_id as "runId", max(j.repo_full_name) as "repoFullName", json_agg(j.job_id order by j.job_id) as "jobIds"
    from workers w join jobs j on j.entity_id = w.entity_id
      -- Jobs that we failed and GitHub queues again are demand too. Two selects, because each has
      -- its own index.
      and j.job_id in (
        select job_id from jobs where entity_id = w.entity_id and status = 'pending' union all select job_id from jobs where wants_worker)
      and (w.scope_repo_id = 0 or j.repo_id = w.scope_repo_id)
      and (w.registered_labels is null or j.job_labels <@ w.registered_labels)
    where w.pod_name = ${podName} and (${readFrom}::bigint is null or j.run_id < ${readFrom}::bigint)
    group by j.run_id order by j.run_id desc limit ${limit + 1}`.execute(db);
  return rows;
}
