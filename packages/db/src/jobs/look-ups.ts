import type { JobToJudge, JobVerdict } from '@paddock/domain/jobs/judge-job';
import { type RawBuilder, sql } from 'kysely';
import { rowsOf } from '../rows.ts';
import { hasLiveRunner, isUnended } from '../states/states.ts';
import type { Db, Status, Trx } from '../schema/tables.ts';
import { milliseconds, NOW } from '../milliseconds.ts';
import {
  type EntityToAsk,
  entityToday,
  installationToday,
  mayAsk,
} from '../entities/whom-to-ask.ts';

/** A job to look up at GitHub. */
export interface JobToLookUp extends EntityToAsk, JobToJudge {
  readonly jobId: number;
  readonly runId: number;
  readonly runAttempt: number;
  readonly repoId: number;
  /** As the last delivery named it; the repository may have another name by now. */
  readonly repoFullName: string;
  readonly revision: number;
}

export interface LookUpQuery {
  /** The most jobs that are due: entities in turn, of each those due longest first. */
  readonly batch: number;
  /** How long after the first answer a second one counts, in milliseconds. */
  readonly secondLookMs: number;
  /** The Apps that are configured here. */
  readonly appIds: readonly number[];
}

const MAY_ASK = mayAsk('j', 'j.repo_id');

/** The jobs that are due to be looked up. */
export const findJobsToLookUp = (db: Db, { batch, secondLookMs, appIds }: LookUpQuery) =>
  rowsOf<JobToLookUp>(db)`
    with recursive entities as (
      (select entity_id from jobs where lookup_due_at is not null order by entity_id limit 1)
      union all
      select (select entity_id from jobs where lookup_due_at is not null and entity_id > entities.entity_id order by entity_id limit 1)
      from entities where entity_id is not null
    ), due as (
      -- Left out here and not below: jobs without a usable App would fill the batch. Entities take
      -- turns; of each no more are read than the batch may have.
      select job_id from entities cross join lateral (
        select j.job_id, j.lookup_due_at, row_number() over (order by j.lookup_due_at, j.job_id) as turn from (
          select j.job_id, j.lookup_due_at from jobs j ${installationToday('j', appIds)}
          where j.entity_id = entities.entity_id and j.lookup_due_at <= now() and ${MAY_ASK} order by j.lookup_due_at, j.job_id limit ${batch}
        ) j
      ) of_entity order by turn, lookup_due_at, job_id limit ${batch}
    )
    select j.job_id as "jobId", j.run_id as "runId", j.run_attempt as "runAttempt", j.repo_id as "repoId", j.repo_full_name as "repoFullName",
      ${entityToday('j')}, j.status, j.revision, j.wants_worker as "wantsWorker",
      ${hasLiveRunner} as "hasWorker",
      coalesce(j.seen_queued_at <= now() - ${milliseconds(secondLookMs)}, false) as "wasQueued",
      j.hidden_since is not null and not j.wants_worker as "wasHidden",
      j.looked_up_at is not null as "wasLookedUp",
      coalesce(j.seen_gone_at <= now() - ${milliseconds(secondLookMs)}, false) as "wasGone"
    from due join jobs j using (job_id)
    ${installationToday('j', appIds)}
    where ${MAY_ASK}
    order by j.lookup_due_at, j.job_id`;

/** The result of GitHub's answer for a job; `revision` and `status` are those of the judged row. */
export interface LookUpNote {
  readonly jobId: number;
  readonly status: Status;
  readonly revision: number;
  readonly verdict: JobVerdict;
}

/** When to look jobs up again, in milliseconds. */
export interface NextLooks {
  /** How long after the first answer a second one counts. */
  readonly secondLookMs: number;
  /** The longest time between two look-ups of a job that is held back. */
  readonly longestLookMs: number;
}

/**
 * A job that waits, is no demand yet, and is held back by GitHub: the API may lag behind the
 * delivery, which will not come again. It stays due; the time to the next look-up is the age of the
 * row. The delivery still counts as the first sighting.
 */
const isHeldBack = sql`(l.kind = 'answered' and j.status = 'pending' and not j.wants_worker)`;
const isRevived = sql`(l.kind = 'requeued' and not ${isUnended('j')})`;

/**
 * Stores that GitHub has answered for these jobs, and what a delivery would not say: a first
 * sighting, demand that is back, an end. Leaves a row alone that changed since it was read. Returns
 * the ids of the changed rows.
 */
export async function noteLookUps(
  trx: Trx,
  notes: readonly LookUpNote[],
  looks: NextLooks,
): Promise<Set<number>> {
  const { secondLookMs, longestLookMs } = looks;
  const rows = notes.map(({ jobId, status, revision, verdict }) => ({
    job_id: jobId,
    status,
    revision,
    kind: verdict.kind,
    again: verdict.kind === 'gone' || (verdict.kind === 'queued' && verdict.again),
    message: verdict.kind === 'failed' ? verdict.message : null,
    conclusion: verdict.kind === 'failed' ? verdict.conclusion : null,
  }));
  const written = await rowsOf<{ jobId: number }>(trx)`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(
        job_id bigint, status status_enum, revision integer, kind text, again boolean, message text, conclusion text)
    ), locked as (
      select given.* from given join jobs j using (job_id) where j.revision = given.revision order by job_id for no key update of j
    )
    update jobs j set
      looked_up_at = now(),
      lookup_due_at = case when l.again then now() + ${milliseconds(secondLookMs)}
        when ${isHeldBack} then now() + least(${milliseconds(longestLookMs)},
          greatest(${milliseconds(secondLookMs)}, now() - j.created_at)) end,
      seen_queued_at = case when l.kind = 'queued' then coalesce(j.seen_queued_at, now()) when ${isHeldBack} then j.seen_queued_at end,
      seen_gone_at = case when l.kind = 'gone' then coalesce(j.seen_gone_at, now()) end,
      hidden_since = null,
      -- We were wrong to call it ended: it begins anew, as its row says.
      status = case when l.kind = 'failed' then 'failed' when ${isRevived} then 'pending' else j.status end,
      misjudged = j.misjudged or ${isRevived},
      conclusion = case when l.kind = 'failed' then coalesce(j.conclusion, l.conclusion) when not ${isRevived} then j.conclusion end,
      completed_at = case when not ${isRevived} then j.completed_at end,
      failure_info = case when l.kind = 'failed' then jsonb_build_object('version', 1, 'message', l.message) when not ${isRevived} then j.failure_info end,
      wants_worker = case l.kind when 'requeued' then true when 'failed' then false else j.wants_worker end,
      requeues = j.requeues + (l.kind = 'requeued')::integer
    from locked l
    where j.job_id = l.job_id and j.status = l.status
      and (l.kind <> 'failed' or ${isUnended('j')})
      and (l.kind <> 'requeued' or not ${hasLiveRunner})
    returning j.job_id as "jobId"`;
  return new Set(written.map(({ jobId }) => jobId));
}

/** GitHub must hide a repository twice, this far apart, before its jobs are no demand. */
const HIDDEN_APART_MS = 600_000;
/** How long GitHub hides the repository of a job until the job has failed. */
const HIDDEN_AT_MOST = sql`interval '48 hours'`;

/**
 * GitHub does not show the repository of these jobs. Seen for the second time, ten minutes later,
 * they are no demand; after two days they have failed, unless a live worker runs them. Appends an
 * event, at most once a day for each job.
 */
export async function noteHiddenJobs(db: Db, jobs: readonly JobToLookUp[]): Promise<void> {
  const isLost = sql`(${isUnended('j')} and j.hidden_since < now() - ${HIDDEN_AT_MOST} and not ${hasLiveRunner})`;
  const since = sql`coalesce(j.hidden_since, now())`;
  await sql`
    with locked as (
      select job_id from jobs j join jsonb_to_recordset(${JSON.stringify(jobs)}::jsonb) as given("jobId" bigint, revision integer)
        on j.job_id = given."jobId" and j.revision = given.revision
      order by job_id for no key update of j
    )
    update jobs j set hidden_since = ${since}, lookup_due_at = now() + ${waitSince(since, HIDDEN_APART_MS)},
      unanswered_since = case when ${isUnanswered} then unanswered_since else now() end,
      wants_worker = j.wants_worker and coalesce(j.hidden_since > now() - ${milliseconds(HIDDEN_APART_MS)}, true),
      status = case when ${isLost} then 'failed' else j.status end,
      failure_info = case when ${isLost} then jsonb_build_object('version', 1, 'message', 'GitHub has not shown its repository to the App for two days')
        else j.failure_info end
    from locked where j.job_id = locked.job_id`.execute(db);
  const rows = jobs.map((job) => ({
    app_id: job.appId,
    installation_id: job.installationId,
    entity_type: job.entityType,
    entity_id: job.entityId,
    entity_name: job.login,
    repo_id: job.repoId,
    job_id: job.jobId,
    payload: {
      repository: job.repoFullName,
      message: `GitHub does not show ${job.repoFullName} to the App: it was deleted, has moved to an entity without the App, or is not selected for it.`,
    },
  }));
  await sql`
    insert into installation_events (source, event, outcome, app_id, installation_id, entity_type, entity_id, entity_name, repo_id, job_id, payload)
    select 'reconciler', 'discovered.hidden', 'repository_hidden', given.*
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(app_id bigint, installation_id bigint, entity_type entity_type_enum,
      entity_id bigint, entity_name text, repo_id bigint, job_id bigint, payload jsonb)
    where not exists (
      select from installation_events told
      where told.job_id = given.job_id and told.event = 'discovered.hidden' and told.received_at > now() - interval '1 day')
    order by given.job_id`.execute(db);
}

/** The longest wait of an object that GitHub has not answered for. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * For an UPDATE: how long an object waits that has not been answered for since an instant: as long
 * as it has gone on, so twice as long each time, from `firstMs` to an hour.
 */
export const waitSince = (instant: RawBuilder<unknown>, firstMs: number): RawBuilder<unknown> =>
  sql`least(${milliseconds(LONGEST_WAIT_MS)}, greatest(${milliseconds(firstMs)}, now() - ${instant}))`;

/**
 * GitHub did not answer for these jobs: makes them due again, twice as late each time. GitHub's
 * silence begins with the first question since its last answer.
 */
export async function postponeLookUps(
  db: Db,
  jobIds: readonly number[],
  firstMs: number,
): Promise<void> {
  const since = sql<Date>`case when ${isUnanswered} then unanswered_since else now() end`;
  await db
    .updateTable('jobs')
    .set({ lookup_due_at: sql`now() + ${waitSince(since, firstMs)}`, unanswered_since: since })
    .where('job_id', 'in', lockJobs(db, jobIds, sql`coalesce(lookup_due_at, now()) <= now()`))
    .execute();
}

/** The ids of these jobs, of those for which a condition holds. Locks them in one order. */
const lockJobs = (db: Db, jobIds: readonly number[], condition: RawBuilder<boolean>) =>
  db
    .selectFrom('jobs')
    .select('job_id')
    .where('job_id', '=', sql<number>`any(${jobIds}::bigint[])`)
    .where(condition)
    .orderBy('job_id')
    .forNoKeyUpdate();

/** GitHub was asked about a row of `jobs`, at `unanswered_since`, and has not answered. */
export const isUnanswered = sql`(unanswered_since is not null and (looked_up_at is null or looked_up_at < unanswered_since))`;

/** Makes jobs due for a look-up now. One that GitHub hid until now need not wait for its time. */
export async function askForLookUps(db: Db, jobIds: readonly number[]): Promise<void> {
  if (jobIds.length === 0) return;
  await db
    .updateTable('jobs')
    .set({ lookup_due_at: NOW })
    .where(
      'job_id',
      'in',
      lockJobs(db, jobIds, sql`(lookup_due_at is null or hidden_since is not null)`),
    )
    .execute();
}
