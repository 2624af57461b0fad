import { type Pool, pool as storedPool } from '@paddock/domain/pools/pool';
import type { WorkerOfTask } from '@paddock/domain/tasks/worker-tasks';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { jsonText } from '@paddock/domain/text/storable';
import { type RawBuilder, sql, type UpdateObject } from 'kysely';
import {
  type EntityToAsk,
  entityToday,
  installationToday,
  loginToday,
  refusedForMs,
} from '../entities/whom-to-ask.ts';
import { prepared } from '../connection/prepared.ts';
import { rowOf, rowsOf } from '../rows.ts';
import type { FailureInfo } from '../schema/columns.ts';
import type { Database, Db, Status, Trx } from '../schema/tables.ts';
import { ago, NOW } from '../milliseconds.ts';
import { HAS_HOOKS, POOLS_IN_FORCE } from '../pools/pools-documents.ts';

//   pending ──► running ──► completed | failed      forward only: each statement names the states that it may leave

/** What provisioning needs to know of a worker. */
export interface WorkerToProvision extends EntityToAsk {
  podName: string;
  instance: string;
  status: Status;
  stoppingAt: Date | null;
  /** Since its reservation, in milliseconds. */
  ageMs: number;
  pool: string;
  /** That pool in today's configuration; undefined: it has none of that name. */
  poolToday: Pool | undefined;
  /** When this was read. */
  readAt: Date;
  /** Workers of its key have failed since the last success. */
  isWatched: boolean;
  /** They got no job although one waited. */
  isUnserved: boolean;
  /** Its key is paused after failures, for all its jobs: the matcher gives it back. */
  isPaused: boolean;
  /** For how long GitHub refuses us there, in milliseconds; null: it does not. */
  refusedForMs: number | null;
  namespace: string;
  podUid: string | null;
  registrationStartedAt: Date | null;
  /** The entity that its login is pinned to; null: none. */
  loginOwner: number | null;
  /** 0: registers at the organisation. */
  scopeRepoId: number;
  repoFullName: string | null;
  /** That name, if the job has just come with it. */
  newFullName: string | null;
  madeForJobId: number | null;
  deliveryGuid: string | null;
}

/** SQL: no worker of key `k` is registered now. If GitHub gave its workers no job, some may be. */
const IS_PAUSED = sql`(k.paused_until > now() and k.failure_class <> ${sql.lit(NOT_ASSIGNED)})`;

/**
 * SQL: the name of the repository of job `j`, if the job has just come with it. Since then the
 * repository may have another name, and another repository this one.
 */
export const NEW_NAME = sql`case when least(j.created_at, j.queued_at) > now() - interval '5 minutes' then j.repo_full_name end`;

/** Reads all that an attempt needs. Throws if this version cannot read the stored pool. */
export async function findWorkerToProvision(
  db: Db,
  podName: string,
  appIds: readonly number[],
): Promise<WorkerToProvision | undefined> {
  const worker = await rowOf<Omit<WorkerToProvision, 'poolToday'> & { poolToday: unknown }>(
    db,
  )`${prepared}
    select w.pod_name as "podName", instance.instance_id as instance, w.status, w.stopping_at as "stoppingAt",
      extract(epoch from now() - w.created_at)::float8 * 1000 as "ageMs", w.k8s_pool as pool, w.namespace, w.pod_uid as "podUid",
      w.registration_started_at as "registrationStartedAt", ${entityToday('w')},
      (select entity_id from login_pins where login = lower(${loginToday('w')})) as "loginOwner",
      w.scope_repo_id as "scopeRepoId", coalesce(j.repo_full_name, w.repo_full_name) as "repoFullName", ${NEW_NAME} as "newFullName",
      w.made_for_job_id as "madeForJobId", w.delivery_guid as "deliveryGuid",
      (select p from ${POOLS_IN_FORCE} where p ->> 'name' = w.k8s_pool) as "poolToday",
      now() as "readAt", coalesce(k.failures > 0, false) as "isWatched", k.failure_class is not distinct from ${NOT_ASSIGNED} as "isUnserved", coalesce(${IS_PAUSED}, false) as "isPaused",
      ${refusedForMs('coalesce(i.app_id, w.app_id)')} as "refusedForMs"
    from workers w
    cross join instance
    ${installationToday('w', appIds)}
    left join jobs j on j.job_id = w.made_for_job_id
    left join demand_keys k on k.demand_key = w.demand_key
    where w.pod_name = ${podName}`;
  return worker && { ...worker, poolToday: readPool(worker.pool, worker.poolToday) };
}

function readPool(name: string, content: unknown): Pool | undefined {
  if (content === null) return undefined;
  const parsed = storedPool.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new Error(`The pool ${name} in the database cannot be read by this service: upgrade it.`, {
    cause: parsed.error,
  });
}

/** Changes a worker's row if it is as `condition` says, of `w`. False: it is not. */
export async function changeWorker(
  db: Db,
  podName: string,
  change: UpdateObject<Database & { w: Database['workers'] }, 'w', 'w'>,
  condition: RawBuilder<boolean> = sql`true`,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('workers as w')
    .set(change)
    .where('pod_name', '=', podName)
    // In a sub-query: a kept plan looks the name up, and walks through no index of such rows.
    .where(sql<boolean>`${prepared} (select ${condition} offset 0)`)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Allows one run, once, to register this worker at GitHub. False: the row has ended or is stopping,
 * or a registration has begun; then no other may begin, because GitHub gives a JIT config only
 * once. Also false while its key is paused.
 */
export const markRegistrationStarted = (db: Db, podName: string): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    { registration_started_at: NOW },
    sql`status = 'pending' and stopping_at is null and registration_started_at is null
      and not exists (select from demand_keys k where k.demand_key = w.demand_key and ${IS_PAUSED})`,
  );

/** Removes the mark after a call that certainly registered nothing. */
export const clearRegistrationStarted = (db: Db, podName: string): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    { registration_started_at: null },
    sql`status = 'pending' and registered_at is null`,
  );

/**
 * Stores the registration. False: the row has ended; then nothing more may be made for it. Repeat
 * it with the same runner if its answer was lost.
 */
export const saveRegistration = (
  db: Db,
  podName: string,
  { runnerId, labels }: { runnerId: number; labels: readonly string[] },
): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    {
      runner_id: runnerId,
      registered_labels: JSON.stringify(labels),
      registered_at: sql`coalesce(registered_at, now())`,
    },
    sql`status = 'pending' and (registered_at is null or runner_id = ${runnerId})`,
  );

/** Whether the worker has not started or ended. */
export async function isPending(db: Db, podName: string): Promise<boolean> {
  const { rows } =
    await sql`${prepared} select from workers where pod_name = ${podName} and status = 'pending'`.execute(
      db,
    );
  return rows.length === 1;
}

/**
 * Stores that the worker's pod exists; the follower of pods may have done so before. Returns how
 * long ago the job that it was made for became known, in seconds; undefined: that job's row is
 * gone.
 */
export async function savePod(
  db: Db,
  podName: string,
  podUid: string,
): Promise<number | undefined> {
  const rows = await rowsOf<{ seconds: number }>(db)`${prepared}
    with saved as (
      update workers set pod_uid = ${podUid}, pod_created_at = now() where pod_name = ${podName} and pod_uid is null
    )
    select extract(epoch from now() - j.created_at)::float8 as seconds
    from workers w join jobs j on j.job_id = w.made_for_job_id where w.pod_name = ${podName}`;
  return rows[0]?.seconds;
}

/** Ends a worker that never got a pod. False: it has ended, or its pod was seen. */
export const failUnstartedWorker = (
  trx: Trx,
  podName: string,
  { reason, message }: { reason: string; message: string },
): Promise<boolean> =>
  changeWorker(
    trx,
    podName,
    {
      status: 'failed',
      completed_at: NOW,
      stop_reason: reason,
      failure_info: JSON.stringify({ version: 1, message } satisfies FailureInfo),
    },
    sql`status = 'pending' and pod_uid is null`,
  );

/**
 * Worker `w` has no task of this kind. By status, because tasks are indexed by it; `offset 0` keeps
 * it one look-up per worker.
 */
export const hasNoTask = (kind: string) => sql<boolean>`
  not exists (select from tasks where subject_id = w.pod_name and subject_type = 'worker' and kind = ${kind} and status = 'queued' offset 0)
  and not exists (select from tasks where subject_id = w.pod_name and subject_type = 'worker' and kind = ${kind} and status = 'running' offset 0)`;

/** What a task about a worker names. */
export const OF_TASK = ['pod_name as podName', 'delivery_guid as deliveryGuid'] as const;

/**
 * Workers that wait for a pod without a task: theirs has ended in an error, or was discarded. A
 * stopping worker waits for no pod.
 */
export const findForgottenWorkers = (
  db: Db,
  { kind, olderThanMs, limit }: { kind: string; olderThanMs: number; limit: number },
): Promise<WorkerOfTask[]> =>
  db
    .selectFrom('workers as w')
    .select(OF_TASK)
    .where('status', '=', sql.lit('pending'))
    .where('pod_uid', 'is', null)
    .where('stopping_at', 'is', null)
    .where('created_at', '<', ago(olderThanMs))
    .where(hasNoTask(kind))
    .orderBy('created_at')
    .orderBy('pod_name')
    .limit(limit)
    .execute();

/** Worker `w` has a diagnosis for the reason of its stop, whose result would say less. */
export const IS_EXAMINED = sql.raw<boolean>(
  `coalesce(w.stopping_at is not null and w.failure_info ->> 'version' = '2' and w.failure_info ->> 'reason' = w.stop_reason, false)`,
);

/** Where the worker's pod and Secret are, and its status. */
export interface WorkerPlace {
  podName: string;
  namespace: string;
  podUid: string | null;
  status: Status;
  pool: string;
  /** Why its pod does not start or go, if so. */
  stuckReason: string | null;
  /** Its diagnosis was stored before we stopped it. */
  isExamined: boolean;
  /** Its runner makes objects of its own, by the pool of which it was made. */
  hasHooks: boolean;
}

export const findWorkerPlace = (db: Db, podName: string): Promise<WorkerPlace | undefined> =>
  db
    .selectFrom('workers as w')
    .select([
      'pod_name as podName',
      'namespace',
      'pod_uid as podUid',
      'status',
      'k8s_pool as pool',
      'stuck_reason as stuckReason',
    ])
    .select(IS_EXAMINED.as('isExamined'))
    .select(
      sql<boolean>`exists (
        select from pools_documents d, jsonb_array_elements(d.content -> 'pools') p
        where d.version = w.pools_version and p ->> 'name' = w.k8s_pool and ${HAS_HOOKS})`.as(
        'hasHooks',
      ),
    )
    .where('pod_name', '=', podName)
    .executeTakeFirst();

/** Stores a diagnosis. False: it has not failed, is not stuck, stopping or unexplained now. */
export const saveDiagnosis = (db: Db, podName: string, diagnosis: FailureInfo): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    { failure_info: jsonText(diagnosis) },
    sql`(status = 'failed' or stuck_reason is not null or stopping_at is not null or unexplained_until is not null)`,
  );

export const markSecretDeleted = (db: Db, podName: string): Promise<boolean> =>
  changeWorker(db, podName, { secret_deleted_at: NOW }, sql`secret_deleted_at is null`);
