import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { timeline, timelineOf } from '../lists/timeline.ts';
import { githubId } from '../lists/whole.ts';
import { notFound } from '../problem.ts';
import { eventRow, listJobEvents } from '../events/event.ts';
import { JOB_COLUMNS, jobRow, WAITED_KEY } from './job.ts';

/** A job has three events, and more only if they are redelivered: a bound, not a page. */
const MOST_EVENTS = 50;

/** A job with all that its row has, and what was heard of it. */
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
  misjudged: z.boolean().describe('Paddock had ended it before GitHub completed it'),
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
  method: 'GET',
  path: '/api/v1/jobs/{job}',
  summary: 'Finds a job by its id, with its timeline and its deliveries.',
  access: 'read',
  status: 200,
  input: z.object({ job: githubId() }),
  output: job,
  async answer({ db }, { job: id }) {
    const found = await findJob(db, id);
    if (found === undefined)
      throw notFound(
        'There is no row of this job: no pool serves it, no delivery about it arrived, or it ended so long ago that its row was deleted. `paddock why` says which.',
      );
    const events = await listJobEvents(db, id, { limit: MOST_EVENTS });
    return {
      ...found,
      deliveries: events.map(({ id: event, source, event: what, outcome, guid, receivedAt }) => ({
        id: event,
        source,
        event: what,
        outcome,
        guid,
        receivedAt,
      })),
    };
  },
});

/** SQL: what happened to the job `j`. */
export const JOB_TIMELINE = timelineOf({
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
export async function findJob(
  db: Kysely<Database>,
  jobId: number,
): Promise<Omit<z.output<typeof job>, 'deliveries'> | undefined> {
  const { rows } = await sql<Omit<z.output<typeof job>, 'deliveries'>>`
    select ${JOB_COLUMNS}, j.wants_worker as "wantsWorker", j.k8s_image as image, j.app_id as app, j.installation_id as installation,
      case when j.runner_name is not null then json_build_object('id', j.runner_id, 'name', j.runner_name) end as runner,
      j.pools_version as "poolsVersion", j.requeues, j.recovery_attempts as recoveries, j.misjudged, ${JOB_TIMELINE} as timeline
    from jobs j ${WAITED_KEY} where j.job_id = ${jobId}`.execute(db);
  return rows[0];
}
