import type { Database, FailureInfo } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { timeline, timelineOf } from '../lists/timeline.ts';
import { notFound } from '../problem.ts';
import { WORKER_COLUMNS, workerRow } from './worker.ts';

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
    const found = await findWorker(db, name);
    if (found === undefined)
      throw notFound(
        'There is no worker of this name: it never existed, or it ended so long ago that its row was deleted.',
      );
    return { ...found, noLog: whyNoLog(found.diagnosis) };
  },
});

/** SQL: what happened to the worker `w`. */
export const WORKER_TIMELINE = timelineOf({
  reserved: 'w.created_at',
  'registration begun': 'w.registration_started_at',
  registered: 'w.registered_at',
  'pod made': 'w.pod_created_at',
  'no node takes the pod': 'w.unschedulable_at',
  'pod stuck': 'w.stuck_at',
  'pod runs': 'w.running_at',
  'GitHub last called it online': 'w.online_seen_at',
  'idle since': 'w.idle_since',
  'assigned a job': 'w.assigned_at',
  'offline since': 'w.offline_since',
  'stop requested': 'w.stopping_at',
  'stop held up': 'w.stop_held_since',
  'removal from GitHub begun': 'w.deregistration_started_at',
  'cluster ends the pod by': 'w.terminating_at',
  'runner ended': 'w.runner_ended_at',
  ended: 'w.completed_at',
  'gone from GitHub': 'w.registration_gone_at',
  'Secret deleted': 'w.secret_deleted_at',
  'pod gone': 'w.pod_gone_at',
  'pod deleted': 'w.pod_deleted_at',
});

type FoundWorker = Omit<z.output<typeof worker>, 'diagnosis' | 'noLog'> & {
  readonly diagnosis: FailureInfo | null;
};

/** Undefined: there is no worker of this name, or its row was deleted. */
export async function findWorker(
  db: Kysely<Database>,
  podName: string,
): Promise<FoundWorker | undefined> {
  const { rows } = await sql<FoundWorker>`
    select ${WORKER_COLUMNS}, w.made_for_job_id as "madeFor", w.job_labels as labels, w.registered_labels as "registeredLabels", w.k8s_image as image,
      w.app_id as app, w.installation_id as installation, w.runner_id as runner, w.cluster, w.namespace, w.pod_uid as "podUid", w.exit_code as "exitCode",
      w.pools_version as "poolsVersion", w.delivery_guid as delivery, w.stop_held_by as "stopHeldBy", ${WORKER_TIMELINE} as timeline,
      w.failure_info as diagnosis
    from workers w where pod_name = ${podName}`.execute(db);
  return rows[0];
}

const withContainers = z.object({
  containers: z.array(z.object({ log: z.string().nullable(), logMissing: z.string().optional() })),
});

/** Why a diagnosis has no end of a log; null: it has one. */
function whyNoLog(diagnosis: FailureInfo | null): string | null {
  if (diagnosis === null)
    return 'The worker was not diagnosed: only those that failed, are stuck or were stopped are.';
  if (diagnosis.version === 1) return 'The pod was not read: it was gone, or there was none.';
  const { data } = withContainers.safeParse(diagnosis);
  const containers = data?.containers ?? [];
  if (containers.some(({ log }) => log !== null && log.trim() !== '')) return null;
  const missing = containers.find(({ logMissing }) => logMissing !== undefined)?.logMissing;
  if (missing !== undefined) return `The log could not be read: ${missing}`;
  return containers.some(({ log }) => log !== null)
    ? 'The log is empty.'
    : 'No container of the pod had begun.';
}
