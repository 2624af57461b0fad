import { has, hasText, allOf, isoText, LONGEST_FAILURE } from '@paddock/db/newest-first';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { instant } from '../lists/dates.ts';
import { entity, pool, repository } from '../lists/named.ts';

/** A job as lists have it. */
export const jobRow = z.object({
  id: z.int(),
  state: z.enum(['waiting', 'running', 'ended']),
  name: z.string(),
  workflow: z.string().nullable(),
  run: z.object({ id: z.int(), attempt: z.int() }),
  entity: z.object({ id: z.int(), login: z.string() }),
  repository: z.object({ id: z.int(), fullName: z.string() }),
  pool: z.string(),
  labels: z.array(z.string()),
  worker: z.string().nullable().describe('The worker that runs it or ran it'),
  conclusion: z.string().nullable().describe('GitHub’s; null until it has ended'),
  failure: z.string().nullable().describe('Why Paddock ended it, where GitHub has not'),
  wait: z
    .object({ reason: z.string(), since: z.iso.datetime() })
    .nullable()
    .describe(
      'Why the jobs of its entity and pool get no more workers, and since when; null: nothing holds them, or it does not wait for a worker',
    ),
  url: z.string().nullable(),
  createdAt: instant.describe('When Paddock first heard of it; lists are in its order'),
  queuedAt: instant.nullable(),
  startedAt: instant.nullable(),
  completedAt: instant.nullable(),
});

export type JobRow = z.output<typeof jobRow>;

/** SQL: the columns of a JobRow, of the job `j` and the key `d` that it waits for. */
export const JOB_COLUMNS = sql`
  j.job_id as id, case j.status when 'pending' then 'waiting' when 'running' then 'running' else 'ended' end as state,
  j.job_name as name, j.workflow_name as workflow, json_build_object('id', j.run_id, 'attempt', j.run_attempt) as run,
  json_build_object('id', j.entity_id, 'login', j.entity_name) as entity,
  json_build_object('id', j.repo_id, 'fullName', j.repo_full_name) as repository, j.k8s_pool as pool, j.job_labels as labels,
  j.k8s_pod as worker, j.conclusion, left(j.failure_info ->> 'message', ${LONGEST_FAILURE}) as failure,
  case when d.wait_reason is not null and d.wait_since is not null
    then json_build_object('reason', d.wait_reason, 'since', ${isoText('d.wait_since')}) end as wait,
  j.html_url as url, j.created_at as "createdAt", j.queued_at as "queuedAt", j.started_at as "startedAt",
  j.completed_at as "completedAt"`;

/** Joins the key `d` of a job `j` that waits for a worker. */
export const WAITED_KEY = sql`left join demand_keys d on j.wants_worker and d.demand_key = j.demand_key`;

/** The inputs that say whose jobs are meant. */
export const jobPlace = {
  entity,
  repository,
  pool,
  workflow: z.string().min(1).max(500).optional().describe('The name of its workflow'),
};

/** Whose jobs, and of which name. */
export interface JobPlace {
  readonly entityId?: number | undefined;
  readonly repoId?: number | undefined;
  readonly pool?: string | undefined;
  readonly workflow?: string | undefined;
}

/** SQL: whether a row of `jobs` is one of these. */
export const isAt = ({ entityId, repoId, pool: name, workflow }: JobPlace): RawBuilder<boolean> =>
  allOf(
    has('entity_id', entityId),
    has('repo_id', repoId),
    has('k8s_pool', name),
    hasText('workflow_name', workflow),
  );
