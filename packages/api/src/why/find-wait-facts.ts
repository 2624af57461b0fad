import { rowsOf } from '@paddock/db/rows';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { rulesOf } from '@paddock/domain/matching/stored-rules';
import { WORKER_TASK } from '@paddock/domain/tasks/worker-tasks';
import { capsInForce } from '@paddock/domain/why/caps-in-force';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { nearestPool } from '@paddock/domain/pools/pools-document';
import type {
  CapFacts,
  EarlierReason,
  HeldWorkerFacts,
  LastStarts,
  WaitFacts,
  WorkerFacts,
} from '@paddock/domain/why/wait-facts';
import { sql } from 'kysely';
import { countLiveWorkers } from '@paddock/db/matching/read-snapshot';
import { findStoredRules } from '@paddock/db/matching/stored-rules';
import { findMatchingSettings } from '@paddock/db/instance';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { LONGEST_FAILURE } from '@paddock/db/newest-first';
import type { Trx } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { type ExplainedJob, findExplainedJob, findHindrances } from './find-hindrances.ts';

/** All that the answer for a job depends on. Undefined: there is no row of the job. */
export async function findWaitFacts(trx: Trx, jobId: number): Promise<WaitFacts | undefined> {
  const settings = await findMatchingSettings(trx);
  const appIds = settings?.appIds ?? [];
  const found = await findExplainedJob(trx, jobId, appIds);
  if (found === undefined) return undefined;
  const { now, job, key, place } = found;
  const earlier = await findEarlierReasons(trx, jobId);
  if (!job.wantsWorker) return { ...NO_FACTS, now, job, earlier };
  const pools = job.pool === NO_POOL ? await currentPoolsDocument(trx) : undefined;
  return {
    now,
    job,
    key,
    place,
    workers: await findWorkersOfKey(trx, job.demandKey),
    lastStarts: await findLastStarts(trx, job),
    caps: settings === undefined ? [] : await findCaps(trx, job, settings),
    ...(await findHindrances(trx, found, appIds)),
    earlier,
    nearest: nearestPool(pools?.document.pools ?? [], found.labels) ?? null,
  };
}

const NO_FACTS = {
  key: null,
  place: null,
  workers: [],
  lastStarts: null,
  caps: [],
  switches: [],
  failing: null,
  outages: [],
  told: [],
  budget: null,
  group: null,
  lostApp: null,
  unexplained: 0,
  withoutNode: 0,
  nearest: null,
};

async function findCaps(
  trx: Trx,
  job: ExplainedJob['job'],
  settings: MatchingSettings,
): Promise<CapFacts[]> {
  const stored = await findStoredRules(trx, settings);
  const rules = rulesOf({ rules: stored });
  return capsInForce(job, rules, await countLiveWorkers(trx), await findHeldWorkers(trx));
}

function findHeldWorkers(trx: Trx): Promise<HeldWorkerFacts[]> {
  const since = sql<Date>`least(stop_held_since, terminating_at)`;
  return trx
    .selectFrom('workers')
    .select(['pod_name as name', 'entity_id as entityId', 'k8s_pool as pool'])
    .select(['scope_repo_id as scopeRepoId', since.as('since')])
    .select(({ fn, val }) =>
      fn.coalesce('stop_held_by', val('its pod is being deleted, and is still there')).as('heldBy'),
    )
    .where(LIVE)
    .where(since, '<', sql<Date>`now() - interval '1 minute'`)
    .orderBy('since')
    .orderBy('pod_name')
    .execute();
}

/** Why the last try to register worker `workers`, or to make its pod, came to nothing. */
const LAST_TRY = sql`case when pod_uid is null then (
        select failures -> -1 ->> 'message' from tasks
        where subject_id = pod_name and subject_type = 'worker' and kind = ${sql.lit(WORKER_TASK.provisionWorker)} and status = 'queued') end`;

const findWorkersOfKey = (trx: Trx, demandKey: number) => rowsOf<WorkerFacts>(trx)`
    select pod_name as name, created_at as "createdAt", registration_started_at is not null as "hasBegunRegistration",
      registered_at is not null as "isRegistered", pod_uid is not null as "hasPod", status = 'running' as "isRunning",
      offline_since is not null as "isOffline", stopping_at is not null as "isStopping", unschedulable_at is not null as "isUnschedulable", stuck_reason as "stuckReason",
      left(coalesce(failure_info ->> 'message', ${LAST_TRY}), ${LONGEST_FAILURE}) as diagnosis
    from workers where demand_key = ${demandKey} and ${LIVE} and assigned_at is null`;

/** Jobs whose wait is known tell most while they are few and new. */
const LAST_STARTS = 50;
/**
 * The index finds an entity's ended workers in a pool. Those of one key are found among them, which
 * for a personal account are those of one repository.
 */
const MOST_READ = 1_000;

/** The last jobs of a key that started on our workers in 30 days. Null: none did. */
async function findLastStarts(
  trx: Trx,
  { demandKey, entityId, pool }: Pick<WaitFacts['job'], 'demandKey' | 'entityId' | 'pool'>,
): Promise<LastStarts | null> {
  const rows = await rowsOf<LastStarts>(trx)`
    select count(*) as jobs,
      (percentile_cont(0.5) within group (order by greatest(0, extract(epoch from j.started_at - j.queued_at) * 1000)))::bigint as "medianMs"
    from (
      select assigned_job_id from (
        select assigned_job_id, assigned_at from workers where demand_key = ${demandKey} and ${LIVE} and assigned_at is not null
        union all
        select assigned_job_id, assigned_at from (
          select * from workers
          where entity_id = ${entityId} and k8s_pool = ${pool} and status = 'completed' and completed_at is not null
            and created_at > now() - interval '30 days'
          order by created_at desc, pod_name desc limit ${MOST_READ}
        ) newest where demand_key = ${demandKey} and assigned_at is not null
      ) assigned order by assigned_at desc limit ${LAST_STARTS}
    ) last_starts join jobs j on j.job_id = assigned_job_id and j.started_at is not null and j.queued_at is not null
    having count(*) > 0`;
  return rows[0] ?? null;
}

/** A reason may come and go with every pass; the same one is joined to one before it is shown. */
const MOST_EARLIER = 200;

/**
 * The reasons of a job's key that have ended while the job waited, the latest first. A job that
 * runs or has ended waited until it started, or ended: some time in the second that GitHub names.
 */
const findEarlierReasons = (trx: Trx, jobId: number): Promise<EarlierReason[]> =>
  trx
    .selectFrom('jobs as j')
    .innerJoin('wait_reason_changes as c', 'c.demand_key', 'j.demand_key')
    .select(['reason', 'since', 'until'])
    .where('job_id', '=', jobId)
    .whereRef('until', '>', 'created_at')
    .where(
      sql<boolean>`(wants_worker or since < coalesce(started_at, completed_at, now()) + interval '1 second')`,
    )
    .orderBy('until', 'desc')
    .limit(MOST_EARLIER)
    .execute();
