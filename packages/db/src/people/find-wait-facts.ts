import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { rulesOf } from '@paddock/domain/matching/stored-rules';
import { capsInForce } from '@paddock/domain/why/caps-in-force';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { nearestPool } from '@paddock/domain/why/nearest-pool';
import type { CapFacts, HeldWorkerFacts, WaitFacts } from '@paddock/domain/why/wait-facts';
import { sql, type Transaction } from 'kysely';
import { countLiveWorkers } from '../matching/live-workers.ts';
import { findStoredRules } from '../matching/stored-rules.ts';
import { findMatchingSettings } from '../matching/stored-settings.ts';
import { currentPoolsDocument } from '../pools/pools-documents.ts';
import type { Database } from '../schema/tables.ts';
import { LIVE } from '../states/worker-states.ts';
import { findEarlierReasons } from './find-earlier-reasons.ts';
import { findExplainedJob, type ExplainedJob } from './find-explained-job.ts';
import { findHindrances } from './find-hindrances.ts';
import { findStartsOfKey } from './find-starts-of-key.ts';
import { findWorkersOfKey } from './find-workers-of-key.ts';

/** All that the answer for a job depends on. Undefined: there is no row of the job. */
export async function findWaitFacts(
  trx: Transaction<Database>,
  jobId: number,
): Promise<WaitFacts | undefined> {
  const settings = await findMatchingSettings(trx);
  const appIds = settings?.appIds ?? [];
  const found = await findExplainedJob(trx, jobId, appIds);
  if (found === undefined) return undefined;
  const { now, job, key, place } = found;
  const earlier = await findEarlierReasons(trx, jobId);
  if (!job.wantsWorker) return { ...NO_FACTS, now, job, earlier };
  return {
    now,
    job,
    key,
    place,
    workers: await findWorkersOfKey(trx, job.demandKey),
    starts: await findStartsOfKey(trx, job),
    caps: settings === undefined ? [] : await findCaps(trx, job, settings),
    ...(await findHindrances(trx, found, appIds)),
    earlier,
    nearest: await findNearest(trx, found),
  };
}

const NO_FACTS = {
  key: null,
  place: null,
  workers: [],
  starts: [],
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
  trx: Transaction<Database>,
  job: ExplainedJob['job'],
  settings: MatchingSettings,
): Promise<CapFacts[]> {
  const stored = await findStoredRules(trx, settings);
  const rules = rulesOf({ rules: stored });
  return capsInForce(job, rules, await countLiveWorkers(trx), await findHeldWorkers(trx));
}

/** Workers that should have gone a minute ago, the longest held first. */
async function findHeldWorkers(trx: Transaction<Database>): Promise<HeldWorkerFacts[]> {
  const { rows } = await sql<HeldWorkerFacts>`
    select pod_name as name, entity_id as "entityId", k8s_pool as pool, scope_repo_id as "scopeRepoId",
      coalesce(stop_held_by, 'its pod is being deleted, and is still there') as "heldBy", least(stop_held_since, terminating_at) as since
    from workers where ${LIVE} and least(stop_held_since, terminating_at) < now() - interval '1 minute'
    order by since, pod_name`.execute(trx);
  return rows;
}

async function findNearest(
  trx: Transaction<Database>,
  { job, labels }: ExplainedJob,
): Promise<WaitFacts['nearest']> {
  if (job.pool !== NO_POOL) return null;
  const pools = await currentPoolsDocument(trx);
  return nearestPool(pools?.document.pools ?? [], labels) ?? null;
}
