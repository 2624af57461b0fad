import { type NotNull, sql } from 'kysely';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';
import { rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { hasNoTask, OF_TASK } from './workers.ts';
import { ago } from '../milliseconds.ts';
import {
  isLive,
  LIVE,
  RETURNABLE,
  RUNS_BOUND_JOB,
  STOPPING,
  UNASSIGNED,
} from '../states/states.ts';
import type { WorkerOfTask } from '@paddock/domain/tasks/worker-tasks';
import { JOBLESS_REASONS, type StopReason } from '@paddock/domain/workers/stop-reasons';

export interface StopRequest {
  readonly podName: string;
  readonly reason: StopReason;
}

/** Worker `w` lives, runs no known job, and is not stopping; as `over` it may have had one. */
const mayBeAsked = (reason: string) =>
  sql`${isLive('w')} and w.stopping_at is null
    and (w.assigned_at is null or (${sql.ref(reason)} = 'over' and not ${RUNS_BOUND_JOB}))`;

/**
 * How old an answer of GitHub about a job may be when a worker is stopped and another is made for
 * its jobs, and the longest wait of the other for it. A look-up takes seconds; where many workers
 * stop in a row, each job is looked up once in that time.
 */
export const ANSWER_AGE_LIMIT = sql`interval '5 minutes'`;

/**
 * Requests the stop of workers: from now on they are no supply. A worker that got no job although
 * one waited counts against one waiting job, like an unexplained end, until GitHub has said that
 * its key's jobs still wait: that job may have been cancelled without a delivery.
 *
 * Each needs its `stop-worker` task in the same transaction. Workers that have ended, are assigned
 * or are stopping are left alone; returns the others.
 */
export const requestStops = (trx: Trx, requests: readonly StopRequest[]) =>
  rowsOf<WorkerOfTask>(trx)`
    with asked as (
      select * from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as given("podName" text, reason text)
    ), locked as (
      select w.pod_name, asked.reason from workers w join asked on asked."podName" = w.pod_name
      where ${mayBeAsked('asked.reason')}
      order by w.pod_name for no key update of w
    )
    update workers w set stopping_at = now(), stop_reason = locked.reason,
      unexplained_until = case when locked.reason = any(${JOBLESS_REASONS}::text[]) then now() + ${ANSWER_AGE_LIMIT} end
    from locked where w.pod_name = locked.pod_name and ${mayBeAsked('locked.reason')}
    returning w.pod_name as "podName", w.delivery_guid as "deliveryGuid"`;

/** Stopping workers without a task: it failed, was discarded, or was lost in a restore. */
export const findStopsWithoutTask = (
  db: Db,
  { kind, olderThanMs, limit }: { kind: string; olderThanMs: number; limit: number },
): Promise<WorkerOfTask[]> =>
  db
    .selectFrom('workers as w')
    .select(OF_TASK)
    .where(isLive('w'))
    .where('stopping_at', '<', ago(olderThanMs))
    .where(hasNoTask(kind))
    .orderBy('stopping_at')
    .orderBy('pod_name')
    .limit(limit)
    .execute();

/** A worker that cannot be stopped, and why. */
export interface HeldStop {
  podName: string;
  heldBy: string;
}

/** Workers that one reason has kept from being stopped for long; they need a person. */
export const findHeldStops = (db: Db, forMs: number): Promise<HeldStop[]> =>
  db
    .selectFrom('workers')
    .select(['pod_name as podName', 'stop_held_by as heldBy'])
    .where(STOPPING)
    .where('stop_held_since', '<', ago(forMs))
    .orderBy('stop_held_since')
    // Is written with stop_held_since.
    .$narrowType<{ heldBy: NotNull }>()
    .execute();

/** Most runners that `findListableRunners` returns. */
const MOST_LISTABLE = 100;

/**
 * The ids of the runners of a scope that GitHub should list: registered, alive, and not known to
 * have had the job after which they leave. Null for an adopted worker, whose id is not known yet.
 */
export async function findListableRunners(
  db: Db,
  { entityId, scopeRepoId }: { readonly entityId: number; readonly scopeRepoId: number },
): Promise<(number | null)[]> {
  const rows = await db
    .selectFrom('workers')
    .select('runner_id')
    .where('entity_id', '=', entityId)
    .where('scope_repo_id', '=', scopeRepoId)
    .where(LIVE)
    .where('registered_at', 'is not', null)
    .where('registration_gone_at', 'is', null)
    .where('assigned_at', 'is', null)
    .limit(MOST_LISTABLE)
    .execute();
  return rows.map((row) => row.runner_id);
}

/** One worker, all of a pool, or all of `UNFIT`. */
export type Drained = { readonly podName: string } | { readonly pool: string } | typeof UNFIT;

/**
 * Workers that were registered without a label that their pool has now, or in another runner group:
 * its jobs may ask for these. And those without a pod in a namespace that the pool has left: what
 * refuses their pods there may never pass.
 */
export const UNFIT = 'unfit';

const reasonOf = (drained: Drained): StopReason => (drained === UNFIT ? 'pool_changed' : 'drained');

/**
 * No job is known to run on it, and it is not stopping; or it stops only until a job needs it, which
 * a drained one must not serve.
 */
const MAY_DRAIN = sql<boolean>`((${UNASSIGNED}) or (${RETURNABLE}))`;

function isMeant(drained: Drained) {
  if (drained === UNFIT)
    return sql<boolean>`exists (
      select from ${POOLS_IN_FORCE} where p ->> 'name' = k8s_pool and (
        not p -> 'labels' <@ registered_labels or pod_uid is null and namespace <> p ->> 'namespace'
        or registered_at is not null and scope_repo_id = 0 and exists (
          select from pools_documents made cross join jsonb_array_elements(made.content -> 'pools') former
          where made.version = pools_version and former ->> 'name' = k8s_pool and former -> 'runnerGroup' <> p -> 'runnerGroup')))`;
  return 'podName' in drained
    ? sql<boolean>`pod_name = ${drained.podName}`
    : sql<boolean>`k8s_pool = ${drained.pool}`;
}

/**
 * Requests the stop of workers because a person asked for it, or changed their pool: from now on
 * they are no supply. Each needs its `stop-worker` task in the same transaction. Returns them.
 * Workers that are assigned, have ended, or are stopping anyway are left alone.
 */
export function drainWorkers(trx: Trx, drained: Drained): Promise<WorkerOfTask[]> {
  const locked = trx
    .selectFrom('workers')
    .select('pod_name')
    .where(isMeant(drained))
    .where(MAY_DRAIN)
    .orderBy('pod_name')
    .forNoKeyUpdate();
  return trx
    .updateTable('workers')
    .set({ stopping_at: sql`coalesce(stopping_at, now())`, stop_reason: reasonOf(drained) })
    .where('pod_name', '=', sql<string>`any (array(${locked}))`)
    .where(MAY_DRAIN)
    .returning(OF_TASK)
    .execute();
}

/** How many workers of a pool a drain would stop now, and how many run a job. */
export async function countPoolToDrain(
  db: Db,
  pool: string,
): Promise<{ stopping: number; busy: number }> {
  return db
    .selectFrom('workers')
    .select(({ fn }) => [
      fn.countAll<number>().filterWhere(MAY_DRAIN).as('stopping'),
      fn.count<number>('assigned_at').as('busy'),
    ])
    .where('k8s_pool', '=', pool)
    .where(LIVE)
    .executeTakeFirstOrThrow();
}

/** Why a worker cannot be drained, or that it is stopping already; undefined: there is none. */
export async function findDrainState(
  trx: Trx,
  podName: string,
): Promise<'ended' | 'stopping' | 'busy' | 'idle' | undefined> {
  const worker = await trx
    .selectFrom('workers')
    .select([LIVE.as('isLive'), 'stopping_at', 'assigned_at'])
    .where('pod_name', '=', podName)
    .executeTakeFirst();
  if (worker === undefined) return undefined;
  if (!worker.isLive) return 'ended';
  if (worker.stopping_at !== null) return 'stopping';
  return worker.assigned_at === null ? 'idle' : 'busy';
}
