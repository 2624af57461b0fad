import type { WorkerOfTask } from '@paddock/domain/tasks/worker-tasks';
import { jsonText } from '@paddock/domain/text/storable';
import { describeStop, STOP_REASONS } from '@paddock/domain/workers/stop-reasons';
import { sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import { onlyRowOf, rowsOf } from '../rows.ts';
import { SLOW_START, TERMINATING } from './stuck-pods.ts';
import { IS_EXAMINED } from './workers.ts';
import type { Db, Status, Trx } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';
import { LIVE } from '../states/states.ts';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';

/** A pod's own status. */
export interface PodState {
  podName: string;
  podUid: string;
  podCreatedAt: Date;
  node: string | null;
  /** `succeeded` and `failed` only when all containers have terminated: these end the row. */
  phase: 'pending' | 'running' | 'succeeded' | 'failed';
  runningAt: Date | null;
  endedAt: Date | null;
  exitCode: number | null;
  /** Its runner has ended, and other containers have not. */
  isRunnerOver: boolean;
  /** No node accepts it. */
  isUnschedulable: boolean;
  /** When the cluster will have removed it, and how long after the request that is. */
  terminatingAt: Date | null;
  terminatingSeconds: number | null;
  /** Why it does not start, as one of a closed set of words. */
  stuckReason: string | null;
  /** Why it failed, as another of these words. */
  failureReason: string | null;
  /** The reason that ended it although it succeeded, as an idle runner does that is stopped. */
  endedBy: string | null;
  /** The reason in a sentence. */
  message: string | null;
}

/** A worker whose row changed because of its pod. */
export interface PodTransition {
  podName: string;
  pool: string;
  deliveryGuid: string | null;
  entityId: number;
  was: Status;
  status: Status;
  /** It ended well by itself, without a known job: the delivery of its job may follow. */
  unexplained: boolean;
  /** We stopped it, and its runner ended well: its end says nothing of its pod or its pool. */
  wasStopped: boolean;
  /** Why, if it failed. */
  failureReason: string | null;
  /** Why it failed or does not start, in the cluster's words. */
  message: string | null;
  /** Why its pod does not start, if that is new. */
  newlyStuck: string | null;
  /** Why it did not start until now. */
  wasStuck: string | null;
  /** It failed by itself, without a known job: its template or image may be at fault. */
  failedIdle: boolean;
  /** A job is known to have been given to it. */
  hadJob: boolean;
  /** Workers of its key have failed since the last success. */
  isWatched: boolean;
  /** From the row's making to the pod's first Running, in seconds. */
  startSeconds: number | null;
}

export interface RecordedPods {
  changed: PodTransition[];
  /** Names of pods without a row. */
  unknown: string[];
}

/** Reasons found by time stay until the pod says otherwise. */
const HELD_BY_TIME = sql.raw(
  `stuck_reason = '${TERMINATING}' or (stuck_reason = '${SLOW_START}' and g.phase = 'pending')`,
);

/**
 * An instant of the cluster, limited to possible values: between the making of the worker's row and
 * now. Nodes' clocks may be days off, and deadlines count from it. Pods have whole seconds.
 */
const clamped = (instant: string) =>
  sql.raw(
    `case when g."${instant}" is not null then greatest(least(g."${instant}", now()), date_trunc('second', created_at)) end`,
  );

/** An impossible end counts as now. */
const ENDED_AT = sql.raw(
  `case when g."endedAt" between date_trunc('second', created_at) and now() then g."endedAt" else now() end`,
);

/** A deregistered runner that was idle ends by itself, and well. We have ended it all the same. */
const STOPPED = sql.raw(
  '(deregistration_started_at is not null and stopping_at is not null and assigned_at is null)',
);

/**
 * Updates workers' rows from their pods: pending -> running -> completed | failed, never back, with
 * the instants of the pods' status as far as they are possible. Leaves rows without news. A pod
 * with another uid than the row's changes nothing. An unexplained end counts against one waiting
 * job for `unexplainedGraceMs`. The consequences of an end, or of a new reason to be stuck, belong
 * into the same transaction; other changes have none.
 */
export const recordPodStates = (db: Db, states: readonly PodState[], unexplainedGraceMs: number) =>
  onlyRowOf<RecordedPods>(db)`${prepared}
    with given as (
      select * from jsonb_to_recordset(${jsonText(states)}::jsonb) as g("podName" text, "podUid" text, "podCreatedAt" timestamptz, node text, phase text,
        "runningAt" timestamptz, "endedAt" timestamptz, "exitCode" integer, "isRunnerOver" boolean, "isUnschedulable" boolean, "terminatingAt" timestamptz, "terminatingSeconds" float8,
        "stuckReason" text, "failureReason" text, "endedBy" text, message text)
    ),
    -- Each is looked up by its name, and changed by its name alone: else a plan that was kept while
    -- few workers lived reads all that live, for one change of one pod.
    locked as (
      select g.*, w.*
      from (select * from given order by "podName") g cross join lateral (
        select status as was, stuck_reason as "wasStuck", stuck,
          g.phase = 'succeeded' and g."exitCode" is not distinct from 0 and ${STOPPED} as "wasStopped",
          g.phase = 'succeeded' and g."endedBy" is not null and assigned_at is null and stopping_at is null as "wasEnded",
          ${clamped('podCreatedAt')} as "madeAt", ${clamped('runningAt')} as "ranAt", ${ENDED_AT} as "overAt",
          least(g."terminatingAt", now() + g."terminatingSeconds" * interval '1 second') as "goneBy"
        from workers
        cross join lateral (select case when g.phase not in ('succeeded', 'failed')
          then coalesce(g."stuckReason", case when ${HELD_BY_TIME} then stuck_reason end) end as stuck) s
        where pod_name = g."podName" and ${LIVE} and (pod_uid is null or pod_uid = g."podUid")
          and (pod_uid is null or (k8s_node is null and g.node is not null)
            or (status = 'pending' and g.phase = 'running') or (running_at is null and g."runningAt" is not null) or g.phase in ('succeeded', 'failed')
            or (runner_ended_at is null and g."isRunnerOver")
            or (unschedulable_at is not null) <> g."isUnschedulable"
            or stuck is distinct from stuck_reason or (terminating_at is null and g."terminatingAt" is not null))
        for update of workers
      ) w
    ),
    changed as (
      update workers w
      set pod_uid = l."podUid",
        pod_created_at = coalesce(w.pod_created_at, l."madeAt"),
        k8s_node = coalesce(w.k8s_node, l.node),
        status = case l.phase when 'succeeded' then case when l."wasStopped" or l."wasEnded" then 'failed' else 'completed' end when 'failed' then 'failed' when 'running' then 'running' else w.status::text end::status_enum,
        running_at = case
          when l.phase = 'running' then coalesce(w.running_at, l."ranAt", now())
          when l.phase = 'succeeded' then coalesce(w.running_at, l."ranAt", l."overAt")
          else coalesce(w.running_at, l."ranAt") end,
        completed_at = case when l.phase in ('succeeded', 'failed') then greatest(l."overAt", w.running_at) end,
        runner_ended_at = case when l."isRunnerOver" then coalesce(w.runner_ended_at, now()) else w.runner_ended_at end,
        exit_code = coalesce(l."exitCode", w.exit_code),
        unschedulable_at = case when l."isUnschedulable" then coalesce(w.unschedulable_at, now()) end,
        terminating_at = coalesce(w.terminating_at, l."goneBy"),
        stuck_reason = l.stuck,
        stuck_at = case when l.stuck is not null then case when l.stuck is distinct from l."wasStuck" then now() else w.stuck_at end end,
        stop_reason = case when l.phase = 'failed' then coalesce(w.stop_reason, l."failureReason") when l."wasEnded" then l."endedBy" else w.stop_reason end,
        failure_info = case
          when l.phase in ('succeeded', 'failed') and ${IS_EXAMINED} then w.failure_info
          when l."wasStopped" then jsonb_build_object('version', 1,
            'message', coalesce(${JSON.stringify(STOP_REASONS)}::jsonb ->> w.stop_reason, w.stop_reason, ${describeStop(null)}::text))
          when l.phase = 'failed' or l."wasEnded" then jsonb_build_object('version', 1, 'message', coalesce(l.message, 'the pod failed'))
          when l.stuck is not distinct from l."wasStuck" then w.failure_info
          when l.stuck is not null then jsonb_build_object('version', 1, 'message', coalesce(l.message, l.stuck)) end,
        unexplained_until = case when l.phase = 'succeeded' and l."exitCode" = 0 and w.assigned_at is null and w.stopping_at is null
          then now() + ${milliseconds(unexplainedGraceMs)} end
      from locked l
      where w.pod_name = any(array(select "podName" from locked)) and w.pod_name = l."podName"
      returning w.pod_name as "podName", w.k8s_pool as pool, w.delivery_guid as "deliveryGuid", w.entity_id as "entityId", l.was, w.status, w.unexplained_until is not null as unexplained,
        case when w.status = 'failed' then w.stop_reason end as "failureReason", w.failure_info ->> 'message' as message,
        case when w.stuck_reason is distinct from l."wasStuck" then w.stuck_reason end as "newlyStuck",
        l."wasStuck", w.status = 'failed' and w.assigned_at is null and w.stopping_at is null as "failedIdle",
        w.assigned_at is not null as "hadJob",
        l."wasStopped",
        exists (select from demand_keys k where k.demand_key = w.demand_key and k.failures > 0) as "isWatched",
        extract(epoch from w.running_at - w.created_at)::float8 as "startSeconds"
    )
    select (select coalesce(json_agg(c), '[]') from changed c) as changed,
      array(select "podName" from given g where not exists (select from workers w where w.pod_name = g."podName" offset 0)) as unknown`;

/** A worker whose known pod is not in the cluster. */
export interface VanishedWorker extends WorkerOfTask {
  pool: string;
  status: Status;
}

/** Names of the pods in a namespace that are known to have been made, and not known to be gone. */
export async function findKnownPods(db: Db, namespace: string): Promise<string[]> {
  const rows = await db
    .selectFrom('workers')
    .select('pod_name')
    .where('namespace', '=', namespace)
    .where('pod_uid', 'is not', null)
    .where(
      sql<boolean>`((${LIVE} and pod_gone_at is null) or (completed_at is not null and pod_deleted_at is null))`,
    )
    .orderBy('pod_name')
    .execute();
  return rows.map((row) => row.pod_name);
}

/**
 * Stores that the pods of these live workers are gone and takes the workers out of supply. It does
 * not end them: only GitHub's answer about their runners can. Returns those that are new: each
 * needs its `stop-worker` task.
 */
export const stopVanishedWorkers = (trx: Trx, podNames: readonly string[]) =>
  rowsOf<VanishedWorker>(trx)`
    with locked as (
      select pod_name from workers
      where pod_name = any(${podNames}::text[]) and ${LIVE} and pod_gone_at is null
      order by pod_name for update
    )
    update workers w set pod_gone_at = now(), stopping_at = coalesce(w.stopping_at, now()), stop_reason = coalesce(w.stop_reason, 'pod_gone')
    from locked
    -- By name alone: with another condition PostgreSQL may read an index of live workers for each
    -- of them.
    where w.pod_name = locked.pod_name
    returning w.pod_name as "podName", w.k8s_pool as pool, w.status, w.delivery_guid as "deliveryGuid"`;

/** Namespaces that may have our pods: those of the pools in force and of live workers. */
export async function findNamespaces(db: Db): Promise<string[]> {
  const rows = await rowsOf<{ namespace: string }>(db)`
    select p ->> 'namespace' as namespace
    from ${POOLS_IN_FORCE}
    union
    select namespace from workers where ${LIVE}
    order by namespace`;
  return rows.map((row) => row.namespace);
}
