import { DEFAULT_DEADLINES } from '@paddock/domain/pools/pool';
import { sql } from 'kysely';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';
import { rowsOf } from '../rows.ts';
import { LIVE, RUNS_BOUND_JOB } from '../states/states.ts';
import {
  type EntityToAsk,
  entityToday,
  installationToday,
  mayAsk,
} from '../entities/whom-to-ask.ts';
import type { Db } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/** A worker past a deadline that does no work, as far as we know. Times in milliseconds. */
export interface OverdueWorker extends EntityToAsk {
  podName: string;
  pool: string;
  /** It was assigned, and its job ended long ago or was never identified. */
  hadJob: boolean;
  /** Its pod has not started in time. The others run, and GitHub must be asked about them. */
  isPending: boolean;
  isRegistrationDue: boolean;
  isIdleDue: boolean;
  idleDeadlineMs: number;
  /** GitHub's id of its runner; null: not known. */
  runnerId: number | null;
  wasOnline: boolean;
  offlineForMs: number | null;
  /** How long the oldest waiting job of its key has been known; null if none waits. */
  waitingForMs: number | null;
  /** 0: registered at the organisation. */
  scopeRepoId: number;
}

export interface OverdueQuery {
  /** How long after one reading of a runner no other is due. */
  readonly readingsApartMs: number;
  /** The Apps that are configured here. */
  readonly appIds: readonly number[];
  readonly limit: number;
}

const past = (instant: string, deadline: string) => sql.raw(`w.${instant} < now() - ${deadline}`);

/** A deadline of pool `p`, as an interval. */
const deadline = (name: keyof typeof DEFAULT_DEADLINES) => sql`
  coalesce((p ->> ${sql.lit(name)})::float8, ${DEFAULT_DEADLINES[name]}) * interval '1 second'`;

/** Its pod has not started: that takes no answer of GitHub's. */
const isPending = sql`(w.running_at is null and w.assigned_at is null)`;

/**
 * Since when assigned worker `w` has had nothing to do but to end: since its runner ended, or its
 * job, or its assignment to one unknown.
 */
const overSince = sql`least(w.runner_ended_at, coalesce(
  (select least(bound.completed_at, bound.updated_at) from jobs bound where bound.job_id = w.assigned_job_id), w.assigned_at))`;

/**
 * Workers past a deadline of their pool: unassigned ones, and those whose job has ended and that
 * live on for longer than a runner may be idle. The longest known of each scope come first, so that
 * all scopes get their turn. Workers that need a call to GitHub are left out if GitHub refused
 * their entity or repository lately, or no App may be used there. Younger workers are not read.
 */
export const findOverdueWorkers = (db: Db, { readingsApartMs, appIds, limit }: OverdueQuery) =>
  rowsOf<OverdueWorker>(db)`
    with deadlines as materialized (
      -- The last row is for workers of pools that have gone.
      select p ->> 'name' as pool, ${deadline('pendingDeadlineSeconds')} as pending,
        ${deadline('registrationDeadlineSeconds')} as registration, ${deadline('idleDeadlineSeconds')} as idle
      from (select p from ${POOLS_IN_FORCE} union all select '{}') pools
    )
    select w.pod_name as "podName", w.k8s_pool as pool, w.assigned_at is not null as "hadJob", ${isPending} as "isPending",
      w.running_at is not null and ${past('running_at', 'w.registration')} as "isRegistrationDue",
      w.running_at is not null and ${past('running_at', 'w.idle')} and not w.is_warm as "isIdleDue",
      extract(epoch from w.idle)::float8 * 1000 as "idleDeadlineMs", w.runner_id as "runnerId", w.online_seen_at is not null as "wasOnline",
      extract(epoch from now() - w.offline_since)::float8 * 1000 as "offlineForMs",
      (select extract(epoch from now() - min(j.created_at))::float8 * 1000 from jobs j
        where j.demand_key = w.demand_key and j.wants_worker) as "waitingForMs",
      ${entityToday('w')}, w.scope_repo_id as "scopeRepoId"
    from (
      select * from (
        -- By itself: in the order of their age the planner might rather walk through every worker
        -- ever made.
        select * from workers w where ${LIVE} and (assigned_at is null or not ${RUNS_BOUND_JOB}) and stopping_at is null
          and created_at < now() - (select min(least(pending, registration, idle)) from deadlines) offset 0
      ) w
      cross join lateral (
        select pending, registration, idle from deadlines where pool = w.k8s_pool or pool is null order by pool limit 1
      ) d
      where case when w.assigned_at is not null then ${overSince} < now() - d.idle
            and coalesce(w.runner_checked_at < now() - greatest(d.idle, ${milliseconds(readingsApartMs)}), true)
          when w.running_at is null then w.pod_uid is not null and ${past('pod_created_at', 'd.pending')}
          else ((w.online_seen_at is null and ${past('running_at', 'd.registration')}) or (${past('running_at', 'd.idle')} and not w.is_warm))
            and coalesce(w.runner_checked_at < now() - ${milliseconds(readingsApartMs)}, true)
          end
      -- The installation is looked up only for these.
      offset 0
    ) w ${installationToday('w', appIds)}
    where ${isPending} or ${mayAsk('w', 'w.scope_repo_id')}
    order by row_number() over (partition by w.entity_id, w.scope_repo_id order by w.created_at, w.pod_name), w.created_at, w.pod_name
    limit ${limit}`;
