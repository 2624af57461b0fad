import { findWorker, type FoundWorker } from '@paddock/db/people/list-workers';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { timeline, toTimeline } from '../lists/timeline.ts';
import { notFound } from '../problem.ts';
import { whyNoLog } from './why-no-log.ts';
import { toWorkerRow, workerRow } from './worker.ts';

/** A worker with all that its row has. */
const worker = workerRow.extend({
  madeFor: z.int().nullable().describe('The waiting job that it was made for; it may run another'),
  labels: z.array(z.string()).describe('Those that the pool serves'),
  registeredLabels: z.array(z.string()).nullable().describe('Those that GitHub answered'),
  image: z.string(),
  app: z.int(),
  installation: z.int(),
  runner: z.int().nullable().describe('GitHub’s id of its registration'),
  cluster: z.string(),
  namespace: z.string(),
  podUid: z.string().nullable(),
  exitCode: z.int().nullable(),
  poolsVersion: z.int().describe('The version of the pools that it was made by'),
  delivery: z.string().nullable().describe('The delivery of the job that it was made for'),
  stopHeldBy: z.string().nullable().describe('What holds its stop up'),
  timeline,
  diagnosis: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('Why it failed or does not start: pod, events, and the end of each container’s log'),
  noLog: z.string().nullable().describe('Why the diagnosis has no log; null: it has one'),
});

export const findWorkerEndpoint = endpoint({
  name: 'findWorker',
  method: 'GET',
  path: '/api/v1/workers/{worker}',
  summary: 'Finds a worker by its name, with its timeline and the diagnosis of its pod.',
  access: 'read',
  status: 200,
  input: z.object({ worker: z.string().min(1).max(100) }),
  output: worker,
  async answer({ db }, { worker: name }) {
    const row = await findWorker(db, name);
    if (row === undefined)
      throw notFound(
        'There is no worker of this name: it never existed, or it ended so long ago that its row was deleted.',
      );
    return toWorker(row);
  },
});

const toWorker = (row: FoundWorker): z.input<typeof worker> => ({
  ...toWorkerRow(row),
  madeFor: row.made_for_job_id,
  labels: row.job_labels,
  registeredLabels: row.registered_labels,
  image: row.k8s_image,
  app: row.app_id,
  installation: row.installation_id,
  runner: row.runner_id,
  cluster: row.cluster,
  namespace: row.namespace,
  podUid: row.pod_uid,
  exitCode: row.exit_code,
  poolsVersion: row.pools_version,
  delivery: row.delivery_guid,
  stopHeldBy: row.stop_held_by,
  timeline: timelineOfWorker(row),
  diagnosis: row.failure_info,
  noLog: whyNoLog(row.failure_info),
});

export const timelineOfWorker = (row: FoundWorker): z.input<typeof timeline> =>
  toTimeline({
    reserved: row.created_at,
    'registration begun': row.registration_started_at,
    registered: row.registered_at,
    'pod made': row.pod_created_at,
    'no node takes the pod': row.unschedulable_at,
    'pod stuck': row.stuck_at,
    'pod runs': row.running_at,
    'GitHub last called it online': row.online_seen_at,
    'idle since': row.idle_since,
    'assigned a job': row.assigned_at,
    'offline since': row.offline_since,
    'stop requested': row.stopping_at,
    'stop held up': row.stop_held_since,
    'removal from GitHub begun': row.deregistration_started_at,
    'cluster ends the pod by': row.terminating_at,
    'runner ended': row.runner_ended_at,
    ended: row.completed_at,
    'gone from GitHub': row.registration_gone_at,
    'Secret deleted': row.secret_deleted_at,
    'pod gone': row.pod_gone_at,
    'pod deleted': row.pod_deleted_at,
  });
