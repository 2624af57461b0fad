import { sql } from 'kysely';
import { isLive } from '../states/states.ts';
import type { Db } from '../schema/tables.ts';

/** A worker with the job that GitHub has given to it. */
interface AssignedWorker {
  podName: string;
  namespace: string;
  jobId: number;
  repository: string;
  workflow: string | null;
  /** The job's page at GitHub. */
  url: string | null;
}

/**
 * Workers that got a job in the last ten minutes and live, or have ended within a minute, as far as
 * their pods are there. The oldest first.
 */
export const findAssignedWorkers = (db: Db): Promise<AssignedWorker[]> =>
  db
    .selectFrom('workers as w')
    .innerJoin('jobs as j', 'j.job_id', 'w.assigned_job_id')
    .select(['w.pod_name as podName', 'w.namespace', 'j.job_id as jobId'])
    .select(['j.repo_full_name as repository', 'j.workflow_name as workflow', 'j.html_url as url'])
    .where('w.assigned_at', '>', sql<Date>`now() - interval '10 minutes'`)
    .where('w.pod_uid', 'is not', null)
    .where('w.pod_gone_at', 'is', null)
    .where(
      sql<boolean>`(${isLive('w')} or (w.completed_at > now() - interval '1 minute' and w.pod_deleted_at is null))`,
    )
    .orderBy('w.assigned_at')
    .orderBy('w.pod_name')
    .execute();
