import {
  allOf,
  has,
  isoText,
  LONGEST_FAILURE,
  newestOf,
  newestOfFew,
  newestRows,
  type PageOfTime,
  type Position,
  readListed,
} from '@paddock/db/newest-first';
import { rowOf } from '@paddock/db/rows';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { dates, instant, timeline, timelineOf, instantText } from '../lists/dates.ts';
import type { FailureInfo } from '@paddock/db/schema/columns';
import type { Db } from '@paddock/db/schema/tables';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { GOOD_ENDS } from '@paddock/domain/workers/stop-reasons';
import { LIVE } from '@paddock/db/states/states';
import { entity, entityIdOf, pool as poolName } from '../lists/named.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';

const reasonSince = z.object({ reason: z.string(), since: instantText.nullable() }).nullable();

export const workerRow = z.object({
  name: z.string().describe('Of its row, its registration, its Secret and its pod'),
  state: z.enum(['pending', 'running', 'stopping', 'ended', 'failed']),
  entity: z.object({ id: z.int(), login: z.string() }),
  repository: z.string().nullable().describe('Where it is registered, if it serves one only'),
  pool: z.string(),
  node: z.string().nullable(),
  warm: z.boolean().describe('It was made before a job wanted it'),
  job: z.int().nullable().describe('The job that it runs or ran'),
  stuck: reasonSince.describe('Why its pod does not start'),
  stop: reasonSince.describe('Why it is to end'),
  failure: z.string().nullable().describe('Why it failed or does not start, shortly'),
  createdAt: instant.describe('When it was reserved; lists are in its order'),
  runningAt: instant.nullable().describe('When its pod ran'),
  assignedAt: instant.nullable().describe('When it was known to run its job'),
  completedAt: instant.nullable(),
});

export type WorkerRow = z.output<typeof workerRow>;

/** SQL: the worker ended well, or Paddock wanted it no longer. */
export const HAS_ENDED_WELL = sql`(status = 'completed' or status = 'failed' and coalesce(stop_reason, '') in ('unwanted', ${sql.join(GOOD_ENDS.map((one) => sql.lit(one)))}))`;

/** SQL: the columns of a WorkerRow, of the worker `w`. */
const WORKER_COLUMNS = sql`
  w.pod_name as name,
  case when ${HAS_ENDED_WELL} then 'ended' when w.status <> 'failed' and w.stopping_at is not null then 'stopping' else w.status::text end as state,
  json_build_object('id', w.entity_id, 'login', w.entity_name) as entity, w.repo_full_name as repository, w.k8s_pool as pool,
  w.k8s_node as node, w.is_warm as warm, w.assigned_job_id as job,
  case when w.stuck_reason is not null then json_build_object('reason', w.stuck_reason, 'since', ${isoText('w.stuck_at')}) end as stuck,
  case when w.stop_reason is not null then json_build_object('reason', w.stop_reason, 'since', ${isoText('w.stopping_at')}) end as stop,
  left(w.failure_info ->> 'message', ${LONGEST_FAILURE}) as failure, w.created_at as "createdAt", w.running_at as "runningAt",
  w.assigned_at as "assignedAt", w.completed_at as "completedAt"`;

const wholeWorker = workerRow.extend({
  madeFor: z.int().nullable().describe('The waiting job that it was made for; it may run another'),
  labels: z.array(z.string()).describe('Those that the pool serves'),
  registeredLabels: z
    .array(z.string())
    .nullable()
    .describe('Those that its runner was registered with'),
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
  path: '/api/v1/workers/{worker}',
  summary: 'Finds a worker by its name, with its timeline and the diagnosis of its pod.',
  input: z.object({ worker: z.string().min(1).max(100) }),
  output: wholeWorker,
  async answer({ db }, { worker: name }) {
    const found = await findWorker(db, name);
    if (found === undefined)
      throw notFound(
        'There is no worker of this name: it never existed, or it ended so long ago that its row was deleted.',
      );
    return { ...found, noLog: whyNoLog(found.diagnosis) };
  },
});

const WORKER_TIMELINE = timelineOf({
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

type FoundWorker = Omit<z.output<typeof wholeWorker>, 'diagnosis' | 'noLog'> & {
  readonly diagnosis: FailureInfo | null;
};

/** Undefined: there is no worker of this name, or its row was deleted. */
const findWorker = (db: Db, podName: string) => rowOf<FoundWorker>(db)`
    select ${WORKER_COLUMNS}, w.made_for_job_id as "madeFor", w.job_labels as labels, w.registered_labels as "registeredLabels", w.k8s_image as image,
      w.app_id as app, w.installation_id as installation, w.runner_id as runner, w.cluster, w.namespace, w.pod_uid as "podUid", w.exit_code as "exitCode",
      w.pools_version as "poolsVersion", w.delivery_guid as delivery, w.stop_held_by as "stopHeldBy", ${WORKER_TIMELINE} as timeline,
      w.failure_info as diagnosis
    from workers w where pod_name = ${podName}`;

const withContainers = z.object({
  containers: z.array(z.object({ log: z.string().nullable(), logMissing: z.string().optional() })),
});

/** Why a diagnosis has no end of a log; null: it has one. */
function whyNoLog(diagnosis: FailureInfo | null): string | null {
  if (diagnosis === null)
    return 'The worker was not diagnosed: only those that failed, are stuck or were stopped are.';
  if (diagnosis.version === 1) return 'The pod was not read: it was gone, or there was none.';
  const { containers = [] } = withContainers.safeParse(diagnosis).data ?? {};
  if (containers.some(({ log }) => log !== null && log.trim() !== '')) return null;
  const missing = containers.find(({ logMissing }) => logMissing !== undefined)?.logMissing;
  return missing === undefined
    ? 'No container of the pod has written a log.'
    : `The log could not be read: ${missing}`;
}

export const listWorkersEndpoint = endpoint({
  name: 'listWorkers',
  path: '/api/v1/workers',
  summary: 'Lists workers, newest first, by the time of their reservation.',
  input: z.object({
    state: workerRow.shape.state
      .optional()
      .describe('A stopping worker is neither pending nor running; `ended` means well'),
    entity,
    pool: poolName,
    node: z.string().max(253).optional().describe('The node of its pod'),
    reason: z.string().max(100).optional().describe('Of its failure, its stop, or why it is stuck'),
    ...dates,
    ...pageInput(z.tuple([z.iso.datetime(), z.string().max(100)])),
  }),
  output: pageOf(workerRow),
  async answer(caller, { state, pool, node, reason, ...given }) {
    const filter = { entityId: await entityIdOf(caller, given.entity), pool, state, node, reason };
    return toPage(await listWorkers(caller.db, filter, given), given.limit);
  },
});

interface Place {
  readonly entityId?: number | undefined;
  readonly pool?: string | undefined;
  readonly node?: string | undefined;
  readonly reason?: string | undefined;
}

type ListedWorker = Placed<WorkerRow, Position<string>>;

const WORKERS = {
  table: sql`workers`,
  id: sql`pod_name`,
  idType: sql`text`,
  columns: WORKER_COLUMNS,
  joined: sql`workers w using (pod_name)`,
  positionId: sql`w.pod_name`,
};

/** Workers, newest first. Those that live are few, so that every combination of them is fast. */
export function listWorkers(
  db: Db,
  { state, ...place }: Place & { readonly state?: WorkerRow['state'] | undefined },
  page: PageOfTime<string>,
): Promise<ListedWorker[]> {
  const isMeant = isAt(place);
  const alive = (isSo?: RawBuilder<unknown>) =>
    newestOfFew(WORKERS, allOf(LIVE, isMeant, isSo), page);
  const ended = (isSo?: RawBuilder<unknown>) =>
    newestRows(WORKERS, allOf(sql`completed_at is not null`, isMeant, isSo), page);
  switch (state) {
    case 'pending':
    case 'running':
      return readListed(db, WORKERS, alive(sql`status = ${state} and stopping_at is null`));
    case 'stopping':
      return readListed(db, WORKERS, alive(sql`stopping_at is not null`));
    case 'ended':
      return readListed(db, WORKERS, ended(HAS_ENDED_WELL));
    case 'failed':
      return readListed(db, WORKERS, ended(sql`status = 'failed' and not ${HAS_ENDED_WELL}`));
    case undefined:
      return readListed(db, WORKERS, newestOf(WORKERS, [alive(), ended()], page));
    default:
      return state satisfies never;
  }
}

const isAt = ({ entityId, pool, node, reason }: Place): RawBuilder<boolean> =>
  allOf(
    has('entity_id', entityId),
    has('k8s_pool', pool),
    has('k8s_node', node),
    reason === undefined ? undefined : sql`${reason} in (stop_reason, stuck_reason)`,
  );
