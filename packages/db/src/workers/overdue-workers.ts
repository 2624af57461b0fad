import { DEFAULT_DEADLINES } from '@paddock/domain/pools/pool';
import { type Kysely, sql } from 'kysely';
import { currentPoolsDocument } from '../pools/pools-documents.ts';
import { LIVE, RUNS_BOUND_JOB } from '../states/states.ts';
import { type EntityToAsk, entityToday, installationToday, mayCall } from '../entities/told.ts';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/**
 * A worker past a deadline that does no work, as far as we know. Times in milliseconds, by the
 * database's clock.
 */
export interface OverdueWorker extends EntityToAsk {
  podName: string;
  pool: string;
  /** It was assigned, and its job ended long ago or was never identified. */
  hadJob: boolean;
  /**
   * Its pod has not started in time. The others run, and GitHub has to be asked about their
   * runners.
   */
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

const past = (instant: string, deadline: string) =>
  sql.raw(`w.${instant} < now() - ${deadline} * interval '1 second'`);

/** Its pod has not started: that takes no answer of GitHub's. */
const isPending = sql`(w.running_at is null and w.assigned_at is null)`;
/** GitHub can be asked about worker `w` through `i`. */
const mayAsk = sql`(i.app_id is not null and ${mayCall({ appId: 'i.app_id', entityId: 'w.entity_id', repoId: 'w.scope_repo_id' })})`;

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
export async function findOverdueWorkers(
  db: Kysely<Database>,
  { readingsApartMs, appIds, limit }: OverdueQuery,
): Promise<OverdueWorker[]> {
  const pools = ((await currentPoolsDocument(db))?.document.pools ?? []).map(deadlinesOf);
  const usual = deadlinesOf({ name: '' });
  const shortest = Math.min(
    ...[usual, ...pools].flatMap(({ pending, registration, idle }) => [
      pending,
      registration,
      idle,
    ]),
  );
  const { rows } = await sql<OverdueWorker>`
    select w.pod_name as "podName", w.k8s_pool as pool, w.assigned_at is not null as "hadJob", ${isPending} as "isPending",
      w.running_at is not null and ${past('running_at', 'w.registration_deadline')} as "isRegistrationDue",
      w.running_at is not null and ${past('running_at', 'w.idle_deadline')} and not w.is_warm as "isIdleDue",
      w.idle_deadline * 1000 as "idleDeadlineMs", w.runner_id as "runnerId", w.online_seen_at is not null as "wasOnline",
      extract(epoch from now() - w.offline_since)::float8 * 1000 as "offlineForMs",
      (select extract(epoch from now() - min(j.created_at))::float8 * 1000 from jobs j
        where j.demand_key = w.demand_key and j.wants_worker) as "waitingForMs",
      ${entityToday('w')}, w.scope_repo_id as "scopeRepoId"
    from (
      select w.*, d.registration as registration_deadline, d.idle as idle_deadline
      -- By itself: in the order of their age the planner might rather walk through every worker
      -- ever made.
      from (
        select * from workers w where ${LIVE} and (assigned_at is null or not ${RUNS_BOUND_JOB}) and stopping_at is null
          and created_at < now() - ${shortest}::float8 * interval '1 second' offset 0
      ) w
      left join jsonb_to_recordset(${JSON.stringify(pools)}::jsonb) as p(name text, pending float8, registration float8, idle float8) on p.name = w.k8s_pool
      cross join lateral (
        select coalesce(p.pending, ${usual.pending}::float8) as pending, coalesce(p.registration, ${usual.registration}::float8) as registration,
          coalesce(p.idle, ${usual.idle}::float8) as idle
      ) d
      where case when w.assigned_at is not null then ${overSince} < now() - d.idle * interval '1 second'
            and coalesce(w.runner_checked_at < now() - greatest(d.idle * interval '1 second', ${milliseconds(readingsApartMs)}), true)
          when w.running_at is null then w.pod_uid is not null and ${past('pod_created_at', 'd.pending')}
          else ((w.online_seen_at is null and ${past('running_at', 'd.registration')}) or (${past('running_at', 'd.idle')} and not w.is_warm))
            and coalesce(w.runner_checked_at < now() - ${milliseconds(readingsApartMs)}, true)
          end
      -- The installation is looked up only for these.
      offset 0
    ) w ${installationToday('w', appIds)}
    where ${isPending} or ${mayAsk}
    order by row_number() over (partition by w.entity_id, w.scope_repo_id order by w.created_at, w.pod_name), w.created_at, w.pod_name
    limit ${limit}`.execute(db);
  return rows;
}

interface PoolDeadlines {
  readonly name: string;
  readonly pendingDeadlineSeconds?: number | undefined;
  readonly registrationDeadlineSeconds?: number | undefined;
  readonly idleDeadlineSeconds?: number | undefined;
}

const deadlinesOf = (pool: PoolDeadlines) => ({
  name: pool.name,
  pending: pool.pendingDeadlineSeconds ?? DEFAULT_DEADLINES.pendingDeadlineSeconds,
  registration: pool.registrationDeadlineSeconds ?? DEFAULT_DEADLINES.registrationDeadlineSeconds,
  idle: pool.idleDeadlineSeconds ?? DEFAULT_DEADLINES.idleDeadlineSeconds,
});
