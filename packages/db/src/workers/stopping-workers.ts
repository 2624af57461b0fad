import type { KnownWorker } from '@paddock/domain/workers/may-end';
import { sql } from 'kysely';
import {
  type EntityToAsk,
  entityToday,
  installationToday,
  refusedForMs,
} from '../entities/whom-to-ask.ts';
import { rowOf } from '../rows.ts';
import { IS_ASSIGNED, isLive, isUnended, LIVE, STOPPING } from '../states/states.ts';
import { type Binding, bindWorkers } from './failing-keys.ts';
import type { Db, Status, Trx } from '../schema/tables.ts';
import { changeWorker, IS_EXAMINED, NEW_NAME } from './workers.ts';

//   in supply ──► stopping ──► deregistering ──► ended        stopping, deregistering ──► kept: something runs on it after all

/** What a stop needs to know of a worker. Ages in milliseconds, by the database's clock. */
export interface WorkerToStop
  extends EntityToAsk, Omit<KnownWorker, 'hadPod' | 'idleForMs' | 'offlineForMs'> {
  podName: string;
  status: Status;
  isStopping: boolean;
  stopReason: string | null;
  pool: string;
  namespace: string;
  /** GitHub's id of its runner; null: not known. */
  runnerId: number | null;
  podUid: string | null;
  /** How long its pod has been gone or, never seen, the stop goes on; null: it is there. */
  podlessForMs: number | null;
  registrationBegun: boolean;
  deregistration: 'none' | 'begun' | 'done';
  deregisteredForMs: number | null;
  /** GitHub named no job on it in the runs that wait from this id on; null: none were read yet. */
  runsReadFrom: number | null;
  /** The diagnosis of its pod before the stop, in a sentence; null: none. */
  diagnosis: string | null;
  /** GitHub must not be called now: it refused us, or no configured App may be used. */
  isRefused: boolean;
  /** For how long GitHub refuses us there, in milliseconds; null: it does not. */
  refusedForMs: number | null;
  /** 0: registered at the organisation. */
  scopeRepoId: number;
  newFullName: string | null;
  madeForJobId: number | null;
  deliveryGuid: string | null;
}

export async function findWorkerToStop(
  db: Db,
  podName: string,
  appIds: readonly number[],
): Promise<WorkerToStop | undefined> {
  const row = await rowOf<Omit<WorkerToStop, 'isRefused'> & { mayAsk: boolean }>(db)`
    select w.pod_name as "podName", w.status, w.stopping_at is not null as "isStopping", w.stop_reason as "stopReason",
      ${IS_ASSIGNED} as "isAssigned", w.assigned_at is not null as "hadJob", w.k8s_pool as pool, w.namespace, w.runner_id as "runnerId", w.pod_uid as "podUid",
      w.running_at is not null as "hadStarted", coalesce(extract(epoch from now() - w.stopping_at)::float8 * 1000, 0) as "stoppingForMs",
      w.stop_held_by as "heldBy", w.runs_read_from as "runsReadFrom",
      extract(epoch from now() - coalesce(w.pod_gone_at, case when w.pod_uid is null then w.stopping_at end))::float8 * 1000 as "podlessForMs",
      w.registration_started_at is not null as "registrationBegun",
      case when w.registration_gone_at is not null then 'done' when w.deregistration_started_at is not null then 'begun' else 'none' end as deregistration,
      extract(epoch from now() - w.registration_gone_at)::float8 * 1000 as "deregisteredForMs",
      w.online_seen_at is not null as "wasOnline", case when ${IS_EXAMINED} then w.failure_info ->> 'message' end as diagnosis,
      i.app_id is not null as "mayAsk", ${refusedForMs('i.app_id')} as "refusedForMs",
      ${entityToday('w')}, w.scope_repo_id as "scopeRepoId",
      ${NEW_NAME} as "newFullName", w.made_for_job_id as "madeForJobId", w.delivery_guid as "deliveryGuid"
    from workers w ${installationToday('w', appIds)} left join jobs j on j.job_id = w.made_for_job_id
    where w.pod_name = ${podName}`;
  return row && { ...row, isRefused: !row.mayAsk || row.refusedForMs !== null };
}

const NOT_HELD_UP = { stop_held_by: null, stop_held_since: null };

/** Worker `w` is stopping, and no job is known to run on it. */
const MAY_END = sql<boolean>`${isLive('w')} and w.stopping_at is not null and not ${IS_ASSIGNED}`;

/**
 * Call it before its runner is removed from GitHub: from here on the matcher does not take the
 * worker back into supply. False: it has ended, is assigned, or is not stopping.
 */
export const markDeregistering = (db: Db, podName: string): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    {
      deregistration_started_at: sql`coalesce(deregistration_started_at, now())`,
      runs_read_from: null,
      ...NOT_HELD_UP,
    },
    MAY_END,
  );

/** Notes that GitHub no longer knows its runner: it gets no job from here on. */
export const markDeregistered = (db: Db, podName: string): Promise<boolean> =>
  changeWorker(db, podName, {
    registration_gone_at: sql`coalesce(registration_gone_at, now())`,
    runs_read_from: null,
  });

/** Whether it is still stopping and no job is known to run on it. */
export async function mayStop(db: Db, podName: string): Promise<boolean> {
  const rows = await db
    .selectFrom('workers as w')
    .where('pod_name', '=', podName)
    .where(MAY_END)
    .execute();
  return rows.length === 1;
}

/** Ends the stop of a worker. `isAssigned`: some job runs on it, so it is no supply. */
export const keepWorker = (
  db: Db,
  podName: string,
  { isAssigned }: { isAssigned: boolean },
): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    {
      stopping_at: null,
      stop_reason: null,
      ...NOT_HELD_UP,
      runs_read_from: null,
      unexplained_until: null,
      deregistration_started_at: null,
      pod_gone_at: null,
      failure_info: sql`case when stuck_reason is not null then failure_info end`,
      ...(isAssigned && { assigned_at: sql`coalesce(assigned_at, now())` }),
    },
    STOPPING,
  );

/** GitHub says that this pending job runs on the worker: binds it; a look-up brings the rest. */
export async function keepForJob(db: Db, { worker, jobId }: Binding): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('jobs')
      .set({ lookup_due_at: sql`least(lookup_due_at, now())` })
      .where('job_id', '=', jobId)
      .where(isUnended('jobs'))
      .execute();
    await bindWorkers(trx, [{ worker, jobId }]);
    await keepWorker(trx, worker, { isAssigned: true });
  });
}

/** Stores the obstacle that keeps the worker from being stopped, and since when; null: none. */
export const noteStopHeldUp = (db: Db, podName: string, why: string | null): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    {
      stop_held_by: why,
      stop_held_since: why === null ? null : sql`coalesce(stop_held_since, now())`,
    },
    sql`${LIVE} and stop_held_by is distinct from ${why}`,
  );

/**
 * Stores that GitHub named no job on it in the runs that wait from this id on. False: it was
 * deregistered meanwhile, or serves again, and may have got a job of a newer run.
 */
export const noteRunsRead = (
  db: Db,
  { podName, deregistration }: Pick<WorkerToStop, 'podName' | 'deregistration'>,
  fromRunId: number,
): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    { runs_read_from: fromRunId },
    sql`stopping_at is not null and (registration_gone_at is not null) = ${deregistration === 'done'}::boolean`,
  );

/**
 * Ends a worker whose pod is gone, or was never made, and whose runner GitHub does not know. False:
 * it has ended, is not stopping, or (`hadPod` false) its pod was seen after all. Its diagnosis
 * stays.
 */
export const endStoppedWorker = (
  trx: Trx,
  podName: string,
  { hadPod, message }: { hadPod: boolean; message: string },
): Promise<boolean> =>
  changeWorker(
    trx,
    podName,
    {
      status: 'failed',
      completed_at: sql`greatest(coalesce(pod_gone_at, now()), running_at)`,
      failure_info: sql`case when failure_info ->> 'version' = '2' then failure_info
        else jsonb_build_object('version', 1, 'message', ${message}::text) end`,
      pod_deleted_at: hadPod ? sql`coalesce(pod_gone_at, now())` : null,
      ...NOT_HELD_UP,
    },
    sql`${STOPPING} and (pod_uid is null or ${hadPod})`,
  );
