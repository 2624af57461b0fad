import { findJob, type FoundJob } from '@paddock/db/people/list-jobs';
import {
  type EventSummary,
  listJobEvents,
  MOST_OF_JOB,
} from '@paddock/db/people/list-trace-events';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { timeline, toTimeline } from '../lists/timeline.ts';
import { notFound } from '../problem.ts';
import { jobRow, toJobRow } from './job.ts';
import { githubId } from '../lists/whole.ts';

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
      z.object({
        id: z.string(),
        source: z.enum(['webhook', 'scheduler', 'reconciler']),
        event: z.string(),
        outcome: z.string(),
        guid: z.string().nullable(),
        receivedAt: z.iso.datetime(),
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
    const row = await findJob(db, id);
    if (row === undefined)
      throw notFound(
        'There is no row of this job: no pool serves it, no delivery about it arrived, or it ended so long ago that its row was deleted. `paddock why` says which.',
      );
    return toJob(row, await listJobEvents(db, id, { limit: MOST_OF_JOB }));
  },
});

const toJob = (row: FoundJob, events: readonly EventSummary[]): z.input<typeof job> => ({
  ...toJobRow(row),
  wantsWorker: row.wants_worker,
  image: row.k8s_image,
  app: row.app_id,
  installation: row.installation_id,
  runner: row.runner_name === null ? null : { id: row.runner_id, name: row.runner_name },
  poolsVersion: row.pools_version,
  requeues: row.requeues,
  recoveries: row.recovery_attempts,
  misjudged: row.misjudged,
  timeline: timelineOfJob(row),
  deliveries: events.map(({ id, source, event, outcome, guid, receivedAt }) => ({
    id,
    source,
    event,
    outcome,
    guid,
    receivedAt: receivedAt.toISOString(),
  })),
});

export const timelineOfJob = (row: FoundJob): z.input<typeof timeline> =>
  toTimeline({
    'queued at GitHub': row.queued_at,
    'stored by Paddock': row.created_at,
    'queued, as a look-up or an old delivery says': row.seen_queued_at,
    'GitHub did not know it in a look-up': row.seen_gone_at,
    'look-ups unanswered since': row.unanswered_since,
    'GitHub last answered a look-up': row.looked_up_at,
    'recovery took it on': row.recovered_at,
    started: row.started_at,
    completed: row.completed_at,
    'next look-up': row.lookup_due_at,
  });
