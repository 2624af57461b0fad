import {
  classesEndedBy,
  failureClass,
  type FailureRules,
  pausesOf,
  type Proof,
} from '@paddock/domain/matching/failure-classes';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { prepared, preparedText } from '../connection/prepared.ts';
import { milliseconds } from '../milliseconds.ts';
import { rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { STOPPING } from '../states/states.ts';
import { ANSWER_AGE_LIMIT } from './worker-stops.ts';

//   no failures ──strikes of the class──► paused ──pause over──► one worker at a time ──its proof──► no failures
//                                           ▲                        │
//                                           └──── it fails: twice as long ◄┘
//
// The worker that tries is a row like any other: whoever runs its task carries the trial on.

/** A worker of a key ended or failed before it had a job. */
export interface WorkerFailure {
  readonly podName: string;
  /** Words of `failure-classes.ts`, or another one. */
  readonly failureClass: string;
  /** For people. */
  readonly message: string;
  /** When the work began that failed, by PostgreSQL's clock; now, unless given. */
  readonly beganAt?: Date;
}

/**
 * Counts a failure against the worker's demand key, and pauses the key after as many as its class
 * allows. What fails during a pause began before it, and does not prolong it. A worker that had a
 * job counts nothing: the transaction that binds it waits for this statement, or this one for it.
 */
export async function noteKeyFailure(
  db: Db,
  { podName, failureClass: name, message, beganAt }: WorkerFailure,
  rules: FailureRules,
): Promise<void> {
  const charged = sql`
    select demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, ${message}::text as message,
      coalesce(${beganAt ?? null}::timestamptz, now()) as began_at
    from workers where pod_name = ${podName} and assigned_at is null for share`;
  await sql`with charged as materialized (${charged}) ${noting(name, rules)}`.execute(db);
}

/** Counts a failure of each key in `charged`. */
function noting(name: string, rules: FailureRules): RawBuilder<unknown> {
  const { strikes, isShared = false } = failureClass(name);
  const { firstPauseMs, longestPauseMs } = pausesOf(name, rules);
  const pauses = sql`(k.pauses > 0 or k.failures + 1 >= ${strikes}::integer)`;
  return sql`
    insert into demand_keys as k (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned,
      failures, failure_class, failure_message, failed_at, failing_since)
    select demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, 0, 0, 1, ${name}::text, message, now(), began_at
    from charged order by demand_key
    on conflict (demand_key) do update set
      failures = k.failures + 1, failure_class = excluded.failure_class, failure_message = excluded.failure_message,
      failed_at = now(), failing_since = coalesce(k.failing_since, excluded.failing_since),
      pauses = k.pauses + ${pauses}::integer,
      paused_until = case when ${pauses} then
        now() + ${milliseconds(sql`least(${longestPauseMs}::float8, ${firstPauseMs}::float8 * 2 ^ least(k.pauses, 30))`)} end
      where coalesce(k.paused_until <= now(), true) and (not ${isShared}::boolean or coalesce(excluded.failing_since > k.failed_at, true))
    returning demand_key, pauses, paused_until`;
}

/** For a SET of `demand_keys`. */
const noFailures = `failures = 0, pauses = 0, failure_class = null, failure_message = null, failed_at = null,
  failing_since = null, paused_until = null`;
export const NO_FAILURES = sql.raw(noFailures);

/**
 * Forgets a key's failures, if what the worker has shown proves them over. A start that began
 * before the last failure proves nothing, unless the pod itself was stuck like this: `wasStuck`.
 */
export async function noteKeySuccess(
  db: Db,
  podName: string,
  proof: Proof,
  wasStuck: string | null = null,
): Promise<void> {
  const ended = classesEndedBy(proof) ?? null;
  await sql`
    update demand_keys k set ${NO_FAILURES}
    from workers w
    where w.pod_name = ${podName} and k.demand_key = w.demand_key and k.failures > 0
      and (${ended}::text[] is null or k.failure_class = any(${ended}::text[]))
      and (${proof !== 'started'}::boolean or w.registered_at > k.failed_at or k.failure_class = ${wasStuck}::text)`.execute(
    db,
  );
}

/**
 * Forgets what keys had against them before the pools in force, where these changed the key's pool:
 * failures, and a runner group that lets in too much. That may end the cause.
 */
export async function forgetFailuresOfChangedPools(db: Db): Promise<void> {
  await sql`
    with newest as (select content -> 'pools' as pools, loaded_at from pools_documents order by version desc limit 1),
    former as (select content -> 'pools' as pools from pools_documents order by version desc offset 1 limit 1),
    unchanged as (
      select p ->> 'name' as name from newest cross join jsonb_array_elements(newest.pools) p
      cross join former cross join jsonb_array_elements(former.pools) f where f = p
    ),
    tried as (
      update runner_groups g set paused_until = now() from newest
      where paused_until > now() and read_at < newest.loaded_at and not exists (select from unchanged where name = g.k8s_pool)
    )
    update demand_keys set ${NO_FAILURES}
    where demand_key in (
      select demand_key from demand_keys k cross join newest
      where failures > 0 and failing_since < newest.loaded_at and not exists (select from unchanged where name = k.k8s_pool)
      order by demand_key for no key update of k)`.execute(db);
}

/** The worker ends because it got no job although one waited. */
export const BLAMED = sql<boolean>`${STOPPING} and stop_reason = ${sql.lit(NOT_ASSIGNED)} and assigned_at is null`;

/** A key that is paused because GitHub gave its idle workers no job. */
export interface UnservedKey {
  demandKey: number;
  entityName: string;
  pool: string;
  /** How often the key has been paused; 1 the first time. */
  pauses: number;
  pausedUntil: Date;
}

/**
 * Counts a failure of each key to which GitHub gives no jobs: a worker of the key, made since its
 * last failure, ends because it was idle past its deadline while a job waited. It takes the word of
 * GitHub that a job which the worker could have had is still queued; a job that was cancelled
 * unheard proves nothing. Returns the keys that are paused now.
 */
export const noteUnservedKeys = (trx: Trx, rules: FailureRules) =>
  rowsOf<UnservedKey>(trx)`${prepared}
    with blamed as (
      select demand_key, entity_id, scope_repo_id, k8s_pool, min(entity_name) as entity_name, max(created_at) as made_at
      from workers w where ${BLAMED}
        and exists (
          select from jobs j where j.demand_key = w.demand_key and j.wants_worker and j.created_at <= coalesce(w.registered_at, w.created_at)
            and j.seen_gone_at is null and j.looked_up_at >= w.stopping_at - ${ANSWER_AGE_LIMIT})
      group by demand_key, entity_id, scope_repo_id, k8s_pool
    ),
    charged as materialized (
      select b.*, now() as began_at, 'a job waited while a runner was idle past its deadline' as message
      from blamed b left join demand_keys k on k.demand_key = b.demand_key and k.failure_class = ${NOT_ASSIGNED}
      -- A replacement: it was made in the transaction that noted the last failure, or later.
      where k.failed_at is null or b.made_at >= k.failed_at
    ),
    noted as (${noting(NOT_ASSIGNED, rules)})
    select demand_key as "demandKey", entity_name as "entityName", k8s_pool as pool, pauses, paused_until as "pausedUntil"
    from noted join blamed using (demand_key) where pauses > 0`;

/**
 * Call it when GitHub has said that these jobs had ended while they waited here. Forgets that
 * GitHub gave their keys no job, if no job waits that did at the last failure: that explains it.
 */
export async function forgetFoundOutKeys(trx: Trx, jobIds: readonly number[]): Promise<void> {
  if (jobIds.length === 0) return;
  await sql`
    update demand_keys k set ${NO_FAILURES}
    where k.failure_class = ${NOT_ASSIGNED} and k.demand_key in (select demand_key from jobs where job_id = any(${jobIds}::bigint[]))
      and not exists (select from jobs j where j.demand_key = k.demand_key and j.wants_worker and j.created_at <= k.failed_at)`.execute(
    trx,
  );
}

export interface Binding {
  readonly worker: string;
  readonly jobId: number;
}

/**
 * For a WITH: assigns workers to the jobs that GitHub says they run, given as Bindings. A runner runs
 * one job in its life, so a bound worker stays as it is. The job explains an unexplained end, and is
 * a success of the worker's key. Locks workers in order of their names, and then keys in order.
 */
export const bindingWorkers = (
  bindings: `$${number}`,
  after = '',
): string => `binding as materialized (
    select worker, min("jobId") as job_id
    from json_to_recordset(${bindings}::json) as given(worker text, "jobId" bigint) ${after}
    group by worker
  ), locked_workers as materialized (
    select pod_name from workers where pod_name = any(array(select worker from binding)) and assigned_job_id is null
    order by pod_name for no key update
  ), bound as (
    update workers set assigned_job_id = binding.job_id, assigned_at = coalesce(workers.assigned_at, now()), unexplained_until = null
    from binding where workers.pod_name = any(array(select pod_name from locked_workers)) and workers.pod_name = worker
    returning workers.demand_key
  ), failing as materialized (
    select demand_key from demand_keys where failures > 0 and demand_key in (select demand_key from bound)
    order by demand_key for no key update
  ), forgotten as (
    update demand_keys k set ${noFailures} from failing where k.demand_key = failing.demand_key
  )`;
const BIND_WORKERS = preparedText(`with ${bindingWorkers('$1')} select from bound`);

/** Assigns workers to their jobs. Call it after any jobs are locked. */
export async function bindWorkers(trx: Trx, bindings: readonly Binding[]): Promise<void> {
  if (bindings.length === 0) return;
  await trx.executeQuery(CompiledQuery.raw(BIND_WORKERS, [JSON.stringify(bindings)]));
}
