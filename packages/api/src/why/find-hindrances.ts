import { onlyRowOf, rowOf, rowsOf } from '@paddock/db/rows';
import type {
  FailingFacts,
  JobFacts,
  KeyFacts,
  PlaceFacts,
  ToldFacts,
  WaitFacts,
} from '@paddock/domain/why/wait-facts';
import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '@paddock/db/schema/tables';
import { PLACELESS, UNEXPLAINED } from '@paddock/db/states/states';
import { findSwitches } from '@paddock/db/switches';
import { installationToday, loginToday } from '@paddock/db/entities/whom-to-ask';
import { LONGEST_FAILURE } from '@paddock/db/newest-first';

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
  trx: Trx,
  jobId: number,
  appIds: readonly number[],
): Promise<ExplainedJob | undefined> {
  const row = await rowOf<Row>(trx)`
    select now() as now, coalesce(i.app_id, j.app_id) as "appId", coalesce(i.installation_id, j.installation_id) as "installationId", j.job_labels as labels,
      j.job_id as "jobId", j.demand_key as "demandKey", j.job_name as name, j.html_url as url, j.status, j.wants_worker as "wantsWorker", j.hidden_since as "hiddenSince", ${loginToday('j')} as login, j.entity_id as "entityId",
      j.repo_full_name as "repoFullName", j.scope_repo_id as "scopeRepoId", j.k8s_pool as pool, j.queued_at as "queuedAt", j.created_at as "knownSince",
      j.updated_at as "changedAt", j.started_at as "startedAt", j.completed_at as "completedAt", j.conclusion, j.runner_name as "runnerName", j.k8s_pod as "podName",
      j.failure_info ->> 'message' as failure,
      (select left(w.failure_info ->> 'message', ${LONGEST_FAILURE}) from workers w where w.pod_name = j.k8s_pod and w.status = 'failed') as "workerFailure",
      k.wait_reason as "waitReason", k.wait_since as "waitSince", k.waiting, k.unassigned, k.updated_at as "updatedAt"
    from jobs j left join demand_keys k using (demand_key) ${installationToday('j', appIds)} where j.job_id = ${jobId}`;
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
const findPlace = (trx: Trx, jobId: number) =>
  onlyRowOf<PlaceFacts>(trx)`
    select
      (select count(*) from jobs o where o.demand_key = j.demand_key and o.wants_worker and (o.created_at, o.job_id) <= (j.created_at, j.job_id)) as position,
      (select count(*) from jobs o where o.demand_key = j.demand_key and o.wants_worker) as "of",
      ${olderIn(sql`k.entity_id = j.entity_id and k.demand_key <> j.demand_key`)} as "olderOfEntity",
      ${olderIn(sql`k.k8s_pool = j.k8s_pool and k.entity_id <> j.entity_id`)} as "olderOfPool"
    from jobs j where j.job_id = ${jobId}`;

/** How many waiting jobs of these keys `k` are older than the job `j`. */
const olderIn = (keys: RawBuilder<unknown>) => sql`(
    select coalesce(sum(older.jobs), 0)::bigint from demand_keys k cross join lateral (
      select count(*) as jobs from jobs o where o.demand_key = k.demand_key and o.wants_worker and o.created_at < j.created_at
    ) older where ${keys})`;

type Hindrances = Pick<
  WaitFacts,
  | 'switches'
  | 'failing'
  | 'outages'
  | 'told'
  | 'budget'
  | 'group'
  | 'lostApp'
  | 'unexplained'
  | 'withoutNode'
>;

type Numbers = Pick<WaitFacts, 'unexplained' | 'withoutNode'>;

export async function findHindrances(
  trx: Trx,
  explained: ExplainedJob,
  appIds: readonly number[],
): Promise<Hindrances> {
  const { installationId, job } = explained;
  const numbers = await onlyRowOf<Numbers>(trx)`
    select (select count(*) from workers where ${UNEXPLAINED} and demand_key = ${job.demandKey}) as unexplained,
      (select count(*) from workers where ${PLACELESS} and demand_key = ${job.demandKey}) as "withoutNode"`;
  return {
    ...numbers,
    switches: await findSwitches(trx, [
      'environment',
      `pool:${job.pool}`,
      `entity:${job.entityId}`,
    ]),
    failing: (await findFailures(trx, job.demandKey)) ?? null,
    // Every worker needs GitHub and the cluster.
    outages: await trx.selectFrom('outages').selectAll().orderBy('service').execute(),
    told: await findTold(trx, explained),
    budget: (await findBudget(trx, installationId)) ?? null,
    group: (await findGroup(trx, job)) ?? null,
    lostApp: (await findLostApp(trx, job.entityId, appIds)) ?? null,
  };
}

const findFailures = (trx: Trx, demandKey: number): Promise<FailingFacts | undefined> =>
  trx
    .selectFrom('demand_keys')
    .select([
      'failures',
      sql<string>`failure_class`.as('reason'),
      sql<Date>`failing_since`.as('since'),
      'paused_until as pausedUntil',
      sql<string>`left(failure_message, ${LONGEST_FAILURE})`.as('message'),
    ])
    .where('demand_key', '=', demandKey)
    .where('failures', '>', 0)
    .executeTakeFirst();

/** What ends last first. */
async function findTold(
  trx: Trx,
  { appId, job: { entityId, scopeRepoId } }: ExplainedJob,
): Promise<ToldFacts[]> {
  const ofInstallation = sql`from installations where entity_id = ${entityId} and app_id = ${appId}`;
  return rowsOf<ToldFacts>(trx)`
    select 'github_budget' as reason, wait_until as until, wait_message as message ${ofInstallation} and wait_until > now()
    union all
    select refused_reason, refused_until, refused_message ${ofInstallation} and refused_since is not null
    union all
    select refused_reason, refused_until, refused_message from apps where app_id = ${appId} and refused_since is not null
    union all
    select refused_reason, refused_until, refused_message from repositories where repo_id = ${scopeRepoId} and refused_since is not null
    order by until desc`;
}

const findBudget = (trx: Trx, installationId: number) =>
  trx
    .selectFrom('installations')
    .select(['registrations_left as remaining', 'registrations_reset_at as resetAt'])
    .where('installation_id', '=', installationId)
    .where('registrations_reset_at', '>', sql<Date>`now()`)
    .$narrowType<{ remaining: number; resetAt: Date }>()
    .executeTakeFirst();

const findGroup = (trx: Trx, { demandKey, repoFullName }: ExplainedJob['job']) =>
  trx
    .selectFrom('runner_groups')
    .select([
      'name',
      'excess',
      'visibility',
      sql<string[] | null>`workflows`.as('workflows'),
      sql<boolean>`coalesce(visibility = 'selected' and not lower(repositories::text)::jsonb ? lower(${repoFullName}::text), false)`.as(
        'lacksRepository',
      ),
    ])
    .where('demand_key', '=', demandKey)
    .executeTakeFirst();

/** A configured App first; a suspension before a removal: the suspended App is still there. */
const findLostApp = (trx: Trx, entityId: number, appIds: readonly number[]) =>
  trx
    .selectFrom('installations')
    .select(['app_id as app', sql<Date>`coalesce(deleted_at, suspended_at)`.as('at')])
    .where('entity_id', '=', entityId)
    .where(sql<boolean>`coalesce(deleted_at, suspended_at) is not null`)
    .orderBy(sql`app_id = any(${appIds}::bigint[])`, 'desc')
    .orderBy(sql`deleted_at is not null`)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
