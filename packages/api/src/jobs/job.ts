import { allOf, has, hasText, isoText, LONGEST_FAILURE } from '@paddock/db/newest-first';
import { rowOf } from '@paddock/db/rows';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { instant, timeline, timelineOf, instantText } from '../lists/dates.ts';
import { entity, pool, repository } from '../lists/named.ts';
import type { Db } from '@paddock/db/schema/tables';
import { endpoint } from '../endpoint.ts';
import { githubId } from '../lists/page.ts';
import { notFound } from '../problem.ts';
import { eventRow, listJobEvents } from '../events/events.ts';

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
    .object({ reason: z.string(), since: instantText })
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
export const WAITED_KEY = sql`left join lateral (
  select wait_reason, greatest(wait_since, j.created_at) as wait_since from demand_keys k where j.wants_worker and k.demand_key = j.demand_key
) d on true`;

export const jobPlace = {
  entity,
  repository,
  pool,
  workflow: z.string().min(1).max(500).optional().describe('The name of its workflow'),
};

export interface JobPlace {
  readonly entityId?: number | undefined;
  readonly repoId?: number | undefined;
  readonly pool?: string | undefined;
  readonly workflow?: string | undefined;
}

export const isAt = ({ entityId, repoId, pool: name, workflow }: JobPlace): RawBuilder<boolean> =>
  allOf(
    has('entity_id', entityId),
    has('repo_id', repoId),
    has('k8s_pool', name),
    hasText('workflow_name', workflow),
  );

/** A job has three events, and more only if they are redelivered: a bound, not a page. */
const MOST_EVENTS = 50;

const job = jobRow.extend({
  wantsWorker: z.boolean().describe('It waits, and no old delivery alone says so'),
  image: z.string(),
  app: z.int(),
  installation: z.int(),
  runner: z
    .object({ id: z.int().nullable(), name: z.string() })
    .nullable()
    .describe('The runner that GitHub gave it to, ours or another'),
  poolsVersion: z.int().describe('The version of the pools that placed it'),
  requeues: z.int().describe('How often it became waiting again'),
  recoveries: z.int().describe('How often recovery took it on'),
  misjudged: z.boolean().describe('Paddock had called it ended, and GitHub had not'),
  timeline,
  deliveries: z
    .array(
      eventRow.pick({
        id: true,
        source: true,
        event: true,
        outcome: true,
        guid: true,
        receivedAt: true,
      }),
    )
    .describe('The newest 50 about it, newest first: deliveries, and answers of GitHub to Paddock'),
});

export const findJobEndpoint = endpoint({
  name: 'findJob',
  path: '/api/v1/jobs/{job}',
  summary: 'Finds a job by its id, with its timeline and its deliveries.',
  input: z.object({ job: githubId() }),
  output: job,
  async answer({ db }, { job: id }) {
    const found = await findJob(db, id);
    if (found === undefined)
      throw notFound(
        'There is no row of this job: no pool serves it, no delivery about it arrived, or it ended so long ago that its row was deleted. `paddock why` says which.',
      );
    return { ...found, deliveries: await listJobEvents(db, id, { limit: MOST_EVENTS }) };
  },
});

const JOB_TIMELINE = timelineOf({
  'queued at GitHub': 'j.queued_at',
  'stored by Paddock': 'j.created_at',
  'queued, as a look-up or an old delivery says': 'j.seen_queued_at',
  'GitHub did not know it in a look-up': 'j.seen_gone_at',
  'look-ups unanswered since': 'j.unanswered_since',
  'GitHub last answered a look-up': 'j.looked_up_at',
  'recovery took it on': 'j.recovered_at',
  started: 'j.started_at',
  completed: 'j.completed_at',
  'next look-up': 'j.lookup_due_at',
});

/** Undefined: there is no row of this job, or it was deleted. */
const findJob = (db: Db, jobId: number) => rowOf<Omit<z.output<typeof job>, 'deliveries'>>(db)`
    select ${JOB_COLUMNS}, j.wants_worker as "wantsWorker", j.k8s_image as image, j.app_id as app, j.installation_id as installation,
      case when j.runner_name is not null then json_build_object('id', j.runner_id, 'name', j.runner_name) end as runner,
      j.pools_version as "poolsVersion", j.requeues, j.recovery_attempts as recoveries, j.misjudged, ${JOB_TIMELINE} as timeline
    from jobs j ${WAITED_KEY} where j.job_id = ${jobId}`;
