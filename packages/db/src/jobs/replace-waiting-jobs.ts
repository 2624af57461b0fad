import { type PlacedJob, replaceJob } from '@paddock/domain/pools/place-job';
import { type Kysely, sql, type Transaction } from 'kysely';
import { loginToday } from '../entities/installation-today.ts';
import type { EventToAppend } from '../events/installation-events.ts';
import { type JobToStore, jobToStore } from './job-to-store.ts';
import { storeJobs, untilStored } from './store-jobs.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import type { Database, EntityType } from '../schema/tables.ts';

const PAGE = 500;

/**
 * Moves jobs that wait under an older pools document to their place under this one, with the usual
 * statement. Leaves jobs that have begun, and jobs that a newer document has placed. Each move has
 * an event with both places. Returns how many moved.
 */
export async function replaceWaitingJobs(
  db: Kysely<Database>,
  { document, version }: CurrentPools,
): Promise<number> {
  let after: Cursor = { demandKey: 0, createdAt: '-infinity', jobId: 0 };
  let moved = 0;
  for (;;) {
    const jobs = await findWaitingJobs(db, { after, version });
    const elsewhere = jobs.flatMap((job): Move[] => {
      const entity = { id: job.entityId, login: job.login, type: job.entityType };
      const place = replaceJob(document, { ...job, entity });
      return place === undefined
        ? []
        : [{ ...jobToStore(document, { ...job, ...UNSAID, entity }, place), from: job, place }];
    });
    if (elsewhere.length > 0)
      moved += await untilStored(() =>
        db.transaction().execute((trx) => move(trx, elsewhere, version)),
      );
    const last = jobs.at(-1);
    if (last === undefined || jobs.length < PAGE) return moved;
    after = last;
  }
}

interface Move extends JobToStore {
  readonly from: PlacedJob;
  readonly place: PlacedJob;
}

async function move(
  trx: Transaction<Database>,
  moves: readonly Move[],
  version: number,
): Promise<number> {
  const stored = await storeJobs(trx, moves, version, {
    eventsOf: (results) =>
      moves.flatMap((one, index) =>
        results[index]?.changed === true ? [eventOf(one, version)] : [],
      ),
  });
  return stored.filter(({ changed }) => changed).length;
}

const eventOf = ({ facts, from, place }: Move, poolsVersion: number): EventToAppend => ({
  source: 'reconciler',
  event: 'pools.changed',
  outcome: 'job_moved',
  appId: facts.appId,
  installationId: facts.installationId,
  entity: facts.entity,
  repoId: facts.repoId,
  jobId: facts.jobId,
  deliveryGuid: facts.deliveryGuid,
  payload: JSON.stringify({ version: 1, poolsVersion, from: placeOf(from), to: placeOf(place) }),
  payloadRepaired: false,
});

const placeOf = ({ pool, scopeRepoId }: PlacedJob) => ({ pool, scopeRepoId });

/** The statement says only that the job is queued, as its row does. */
const UNSAID = {
  status: 'pending',
  conclusion: null,
  runnerName: null,
  runnerId: null,
  startedAt: null,
  completedAt: null,
  workflowName: null,
  htmlUrl: null,
  queuedAt: null,
} as const;

/**
 * A place in the index of waiting jobs; the instant as PostgreSQL writes it, because a Date is
 * coarser.
 */
interface Cursor {
  demandKey: number;
  createdAt: string;
  jobId: number;
}

interface WaitingRow extends Cursor {
  entityId: number;
  entityType: EntityType;
  /** The entity's present login, where it is known. */
  login: string;
  repoId: number;
  repoFullName: string;
  appId: number;
  installationId: number;
  labels: string[];
  pool: string;
  image: string;
  scopeRepoId: number;
  runId: number;
  runAttempt: number;
  jobName: string;
  deliveryGuid: string | null;
  isPublic: boolean;
}

/** A page of waiting jobs that an older document has placed, in the order of their index. */
async function findWaitingJobs(
  db: Kysely<Database>,
  { after, version }: { after: Cursor; version: number },
): Promise<WaitingRow[]> {
  const { rows } = await sql<WaitingRow>`
    select j.demand_key as "demandKey", j.created_at::text as "createdAt", j.job_id as "jobId", j.entity_id as "entityId", j.entity_type as "entityType", ${loginToday('j')} as login,
      j.repo_id as "repoId", j.repo_full_name as "repoFullName", j.app_id as "appId", j.installation_id as "installationId",
      j.job_labels as labels, j.k8s_pool as pool, j.k8s_image as image, j.scope_repo_id as "scopeRepoId", j.run_id as "runId",
      j.run_attempt as "runAttempt", j.job_name as "jobName", j.delivery_guid as "deliveryGuid",
      coalesce(not repository.private, false) as "isPublic"
    from (
      select * from jobs
      where wants_worker and pools_version < ${version}
        and (demand_key, created_at, job_id) > (${after.demandKey}::bigint, ${after.createdAt}::timestamptz, ${after.jobId}::bigint)
      order by demand_key, created_at, job_id limit ${PAGE}
    ) j
    left join lateral (
      select (payload -> 'repository' ->> 'private')::boolean as private from installation_events e
      where e.job_id = j.job_id and payload -> 'repository' ? 'private' order by id desc limit 1
    ) repository on true
    order by j.demand_key, j.created_at, j.job_id`.execute(db);
  return rows;
}
