import type { JobFacts, KeyFacts, PlaceFacts } from '@paddock/domain/why/wait-facts';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { installationToday, loginToday } from '@paddock/db/entities/installation-today';
import type { Database } from '@paddock/db/schema/tables';
import { LONGEST_FAILURE } from '@paddock/db/newest-first';

/** A job whose wait is explained. */
export interface ExplainedJob {
  readonly now: Date;
  /** The App and the installation to use for its entity today; its own where none may be used. */
  readonly appId: number;
  readonly installationId: number;
  readonly labels: readonly string[];
  readonly job: JobFacts;
  readonly key: KeyFacts | null;
  readonly place: PlaceFacts | null;
}

type Row = Omit<ExplainedJob, 'job' | 'key' | 'place'> &
  JobFacts &
  (KeyFacts | Record<keyof KeyFacts, null>);

/** `appIds`: the Apps that are configured. Undefined: there is no row of this job. */
export async function findExplainedJob(
  trx: Transaction<Database>,
  jobId: number,
  appIds: readonly number[],
): Promise<ExplainedJob | undefined> {
  const { rows } = await sql<Row>`
    select now() as now, coalesce(i.app_id, j.app_id) as "appId", coalesce(i.installation_id, j.installation_id) as "installationId", j.job_labels as labels,
      j.job_id as "jobId", j.demand_key as "demandKey", j.job_name as name, j.html_url as url, j.status, j.wants_worker as "wantsWorker", j.hidden_since as "hiddenSince", ${loginToday('j')} as login, j.entity_id as "entityId",
      j.repo_full_name as "repoFullName", j.scope_repo_id as "scopeRepoId", j.k8s_pool as pool, j.queued_at as "queuedAt", j.created_at as "knownSince",
      j.updated_at as "changedAt", j.started_at as "startedAt", j.completed_at as "completedAt", j.conclusion, j.runner_name as "runnerName", j.k8s_pod as "podName",
      j.failure_info ->> 'message' as failure,
      (select left(w.failure_info ->> 'message', ${LONGEST_FAILURE}) from workers w where w.pod_name = j.k8s_pod and w.status = 'failed') as "workerFailure",
      k.wait_reason as "waitReason", k.wait_since as "waitSince", k.waiting, k.unassigned, k.updated_at as "updatedAt"
    from jobs j left join demand_keys k using (demand_key) ${installationToday('j', appIds)} where j.job_id = ${jobId}`.execute(
    trx,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { now, appId, installationId, labels, ...rest } = row;
  const { waitReason, waitSince, waiting, unassigned, updatedAt, ...job } = rest;
  return {
    now,
    appId,
    installationId,
    labels,
    job,
    key: waiting === null ? null : { waitReason, waitSince, waiting, unassigned, updatedAt },
    place: job.wantsWorker ? await findPlace(trx, jobId) : null,
  };
}

/** Each count is a walk of the index of waiting jobs; other keys are found among `demand_keys`. */
async function findPlace(trx: Transaction<Database>, jobId: number): Promise<PlaceFacts> {
  const { rows } = await sql<PlaceFacts>`
    select
      (select count(*) from jobs o where o.demand_key = j.demand_key and o.wants_worker and (o.created_at, o.job_id) <= (j.created_at, j.job_id)) as position,
      (select count(*) from jobs o where o.demand_key = j.demand_key and o.wants_worker) as "of",
      ${olderIn(sql`k.entity_id = j.entity_id and k.demand_key <> j.demand_key`)} as "olderOfEntity",
      ${olderIn(sql`k.k8s_pool = j.k8s_pool and k.entity_id <> j.entity_id`)} as "olderOfPool"
    from jobs j where j.job_id = ${jobId}`.execute(trx);
  const [place] = rows;
  if (place === undefined) throw new Error('A job vanished within one snapshot.');
  return place;
}

/** How many waiting jobs of these keys `k` are older than the job `j`. */
const olderIn = (keys: RawBuilder<unknown>) => sql`(
    select coalesce(sum(older.jobs), 0)::bigint from demand_keys k cross join lateral (
      select count(*) as jobs from jobs o where o.demand_key = k.demand_key and o.wants_worker and o.created_at < j.created_at
    ) older where ${keys})`;
