import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { NOT_SERVED, type PlacedJob, placeJob, replaceJob } from '@paddock/domain/pools/place-job';
import type { JobStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { type NotNull, sql } from 'kysely';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { rowsOf } from '../rows.ts';
import { recordFindings } from './record-jobs.ts';
import { storeJobs, untilStored } from './store-jobs.ts';
import type { Db, EntityType, Trx } from '../schema/tables.ts';
import { loginToday } from '../entities/whom-to-ask.ts';
import type { EventToAppend } from '../events/append-events.ts';
import { type JobToStore, jobToStore } from './read-jobs.ts';

const PAGE = 500;

/**
 * Places queued jobs again after the pools have changed. Waiting jobs move to their new pool. Jobs
 * of the last `hours` that no pool served, and about which GitHub has stated nothing else, go
 * through the usual statement, with an event each. Returns how many have another pool now. Safe to
 * run twice, or in two processes at once.
 */
export async function reconsiderJobs(db: Db, pools: CurrentPools, hours: number): Promise<number> {
  return (await replaceWaitingJobs(db, pools)) + (await placeIgnoredJobs(db, pools, hours));
}

async function placeIgnoredJobs(db: Db, pools: CurrentPools, hours: number): Promise<number> {
  const oldest = await newestIdBefore(db, hours);
  let before = Number.MAX_SAFE_INTEGER;
  let placed = 0;
  for (;;) {
    const events = await findIgnoredJobs(db, oldest, before);
    placed += await recordPlaced(db, events, pools);
    const last = events.at(-1);
    if (last === undefined || events.length < PAGE) return placed;
    before = last.id;
  }
}

interface IgnoredEvent {
  readonly id: number;
  readonly appId: number;
  readonly guid: string | null;
  readonly payload: unknown;
}

/**
 * Ids rise with time: a walk along the primary key saves an index that every event would pay for.
 */
async function newestIdBefore(db: Db, hours: number): Promise<number> {
  const newest = await db
    .selectFrom('installation_events')
    .select('id')
    .where('received_at', '<', sql<Date>`now() - ${hours} * interval '1 hour'`)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.id ?? 0;
}

/**
 * Queued jobs that were ignored, without any later statement, newest first. A replay does not count
 * as one, and a late or repeated `queued` does not undo the job's beginning.
 */
const findIgnoredJobs = (db: Db, after: number, before: number): Promise<readonly IgnoredEvent[]> =>
  db
    .selectFrom('installation_events as event')
    .select(['id', 'app_id as appId', 'delivery_guid as guid', 'payload'])
    .where('id', '>', after)
    .where('id', '<', before)
    .where('event', '=', 'workflow_job.queued')
    .where('app_id', 'is not', null)
    .where('outcome', 'in', NOT_SERVED)
    .where(sql<boolean>`not exists (
      select from installation_events other where other.job_id = event.job_id and other.outcome <> 'repeated_body'
        and (other.id > event.id or other.event in ('workflow_job.in_progress', 'workflow_job.completed')))`)
    .orderBy('id', 'desc')
    .limit(PAGE)
    .$narrowType<{ appId: NotNull }>()
    .execute();

interface PlacedEvent extends IgnoredEvent {
  readonly job: JobStatement;
}

async function recordPlaced(
  db: Db,
  events: readonly IgnoredEvent[],
  pools: CurrentPools,
): Promise<number> {
  const placed = events.flatMap((event): PlacedEvent[] => {
    const parsed = parseDelivery('workflow_job', event.payload);
    return parsed.kind === 'job' && !('ignored' in placeJob(pools.document, parsed.job))
      ? [{ ...event, job: parsed.job }]
      : [];
  });
  if (placed.length === 0) return 0;
  const findings = placed.map(({ job, appId, guid, payload }) => ({
    event: 'workflow_job.queued',
    statement: Object.assign({ appId, deliveryGuid: guid }, job),
    payload: JSON.stringify(payload),
  }));
  await untilStored(() => db.transaction().execute((trx) => recordFindings(trx, findings, pools)));
  return placed.length;
}

/**
 * Moves jobs that wait under an older pools document to their place under this one, with the usual
 * statement. Leaves jobs that have begun, and jobs that a newer document has placed. Each move has
 * an event with both places. Returns how many moved.
 */
export async function replaceWaitingJobs(
  db: Db,
  { document, version }: CurrentPools,
): Promise<number> {
  let after = 0;
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
    after = last.jobId;
  }
}

interface Move extends JobToStore {
  readonly from: PlacedJob;
  readonly place: PlacedJob;
}

async function move(trx: Trx, moves: readonly Move[], version: number): Promise<number> {
  const stored = await storeJobs(trx, moves, version, {
    eventsOf: (results) =>
      moves.flatMap((one, index) =>
        results[index]?.changed === true ? [eventOf(one, version)] : [],
      ),
  });
  return stored.filter(({ changed }) => changed).length;
}

const eventOf = ({ facts, from, place }: Move, poolsVersion: number): EventToAppend => ({
  ...facts,
  source: 'reconciler',
  event: 'pools.changed',
  outcome: 'job_moved',
  payload: JSON.stringify({ version: 1, poolsVersion, from: placeOf(from), to: placeOf(place) }),
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

interface WaitingRow {
  jobId: number;
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

/** A page of waiting jobs that an older document has placed, in order of their ids. */
const findWaitingJobs = (db: Db, { after, version }: { after: number; version: number }) =>
  rowsOf<WaitingRow>(db)`
    select j.job_id as "jobId", j.entity_id as "entityId", j.entity_type as "entityType", ${loginToday('j')} as login,
      j.repo_id as "repoId", j.repo_full_name as "repoFullName", j.app_id as "appId", j.installation_id as "installationId",
      j.job_labels as labels, j.k8s_pool as pool, j.k8s_image as image, j.scope_repo_id as "scopeRepoId", j.run_id as "runId",
      j.run_attempt as "runAttempt", j.job_name as "jobName", j.delivery_guid as "deliveryGuid",
      coalesce(not repository.private, false) as "isPublic"
    from (
      -- By itself: in the order of their ids the planner might walk through every job ever stored.
      select * from (select * from jobs where wants_worker and pools_version < ${version} and job_id > ${after} offset 0) waiting
      order by job_id limit ${PAGE}
    ) j
    left join lateral (
      select (payload -> 'repository' ->> 'private')::boolean as private from installation_events e
      where e.job_id = j.job_id and payload -> 'repository' ? 'private' order by id desc limit 1
    ) repository on true
    order by j.job_id`;
