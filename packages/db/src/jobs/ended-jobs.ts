import type { JobInstants } from '@paddock/domain/jobs/phases-of-job';
import { sql } from 'kysely';
import { isTooFarAhead } from '../instants.ts';
import { rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';

/** An ended job with what is known of its way. */
export interface EndedJob extends JobInstants {
  readonly jobId: number;
  readonly runId: number;
  readonly jobName: string;
  readonly workflowName: string | null;
  readonly repository: string;
  readonly url: string | null;
  readonly pool: string;
  readonly conclusion: string | null;
  /** Of the delivery that brought it. */
  readonly deliveryGuid: string | null;
  readonly podName: string | null;
  readonly namespace: string | null;
}

/** Events that one look goes through: their traces stay below a megabyte, the most that many proxies take. */
const MOST_EVENTS = 250;

/**
 * The jobs of whose end an event after this one tells, and up to which event it looked; undefined:
 * nothing is newer. Null begins with the newest, and finds nothing. Events from the first of the
 * last minute on are left for the next look, for an older transaction may still be under way; what
 * was told more than an hour ago is left out.
 */
export async function findEndedJobs(
  db: Db,
  afterId: number | null,
): Promise<{ readonly jobs: readonly EndedJob[]; readonly reachedId: number | undefined }> {
  const [found] = await rowsOf<{ reachedId: number | null; jobIds: readonly number[] }>(db)`
    select max(id) as "reachedId", coalesce(json_agg(distinct job_id) filter (
      where ${afterId}::bigint is not null and job_id is not null and event like '%.completed' and received_at > now() - interval '1 hour'), '[]') as "jobIds"
    from (
      select id, job_id, event, received_at, bool_or(received_at > now() - interval '1 minute' and not ${isTooFarAhead(sql`received_at`)}) over (order by id) as is_young
      from installation_events where id > coalesce(${afterId}::bigint, (select max(id) - 1 from installation_events)) order by id limit ${MOST_EVENTS}
    ) looked where not is_young or ${afterId}::bigint is null`;
  const { reachedId = null, jobIds = [] } = found ?? {};
  const jobs =
    jobIds.length === 0
      ? []
      : await db
          .selectFrom('jobs as j')
          .leftJoin('workers as w', (join) =>
            join.onRef('w.pod_name', '=', 'j.k8s_pod').onRef('w.assigned_job_id', '=', 'j.job_id'),
          )
          .select([
            'j.job_id as jobId',
            'j.run_id as runId',
            'j.job_name as jobName',
            'j.workflow_name as workflowName',
            'j.repo_full_name as repository',
            'j.html_url as url',
            'j.k8s_pool as pool',
            'j.conclusion',
            'j.delivery_guid as deliveryGuid',
            'j.queued_at as queuedAt',
            'j.created_at as createdAt',
            'j.started_at as startedAt',
            'j.completed_at as completedAt',
            'w.pod_name as podName',
            'w.namespace',
            'w.created_at as reservedAt',
            'w.registered_at as registeredAt',
            'w.running_at as runningAt',
          ])
          .where('j.job_id', 'in', jobIds)
          .where('j.completed_at', 'is not', null)
          .execute();
  return { jobs, reachedId: reachedId ?? undefined };
}
