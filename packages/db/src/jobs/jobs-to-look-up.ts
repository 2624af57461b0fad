import type { JobToJudge } from '@paddock/domain/jobs/judge-job';
import { type Kysely, sql } from 'kysely';
import {
  type EntityToAsk,
  entityToday,
  installationToday,
} from '../entities/installation-today.ts';
import { mayCall } from '../entities/told.ts';
import { hasLiveRunner } from '../states/job-states.ts';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

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

/** GitHub can be called about job `j` through `i`. */
const mayAsk = sql`i.app_id is not null and ${mayCall({ appId: 'i.app_id', entityId: 'j.entity_id', repoId: 'j.repo_id' })}`;

/** The jobs that are due to be looked up. */
export async function findJobsToLookUp(
  db: Kysely<Database>,
  { batch, secondLookMs, appIds }: LookUpQuery,
): Promise<JobToLookUp[]> {
  const { rows } = await sql<JobToLookUp>`
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
          where j.entity_id = entities.entity_id and j.lookup_due_at <= now() and ${mayAsk} order by j.lookup_due_at, j.job_id limit ${batch}
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
    where ${mayAsk}
    order by j.lookup_due_at, j.job_id`.execute(db);
  return rows;
}
