import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { NOT_SERVED, placeJob } from '@paddock/domain/pools/place-job';
import type { JobStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { type Kysely, sql } from 'kysely';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { recordFindings } from './record-findings.ts';
import { replaceWaitingJobs } from './replace-waiting-jobs.ts';
import { untilStored } from './store-jobs.ts';
import type { Database } from '../schema/tables.ts';

const PAGE = 500;

/**
 * Places queued jobs again after the pools have changed. Waiting jobs move to their new pool. Jobs
 * of the last `hours` that no pool served, and about which GitHub has stated nothing else, go
 * through the usual statement, with an event each. Returns how many have another pool now. Safe to
 * run twice, or in two processes at once.
 */
export async function reconsiderJobs(
  db: Kysely<Database>,
  pools: CurrentPools,
  hours: number,
): Promise<number> {
  return (await replaceWaitingJobs(db, pools)) + (await placeIgnoredJobs(db, pools, hours));
}

async function placeIgnoredJobs(
  db: Kysely<Database>,
  pools: CurrentPools,
  hours: number,
): Promise<number> {
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
async function newestIdBefore(db: Kysely<Database>, hours: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select id from installation_events where received_at < now() - ${hours} * interval '1 hour' order by id desc limit 1`.execute(
    db,
  );
  return rows[0]?.id ?? 0;
}

/**
 * Queued jobs that were ignored, without any later statement, newest first. A replay does not count
 * as one, and a late or repeated `queued` does not undo the job's beginning.
 */
async function findIgnoredJobs(
  db: Kysely<Database>,
  after: number,
  before: number,
): Promise<readonly IgnoredEvent[]> {
  const { rows } = await sql<IgnoredEvent>`
    select id, app_id as "appId", delivery_guid as guid, payload from installation_events event
    where id > ${after} and id < ${before} and event = 'workflow_job.queued' and app_id is not null
      and outcome = any(${NOT_SERVED}::text[])
      and not exists (select from installation_events other where other.job_id = event.job_id and other.outcome <> 'repeated_body'
        and (other.id > event.id or other.event in ('workflow_job.in_progress', 'workflow_job.completed')))
    order by id desc limit ${PAGE}`.execute(db);
  return rows;
}

interface PlacedEvent extends IgnoredEvent {
  readonly job: JobStatement;
}

async function recordPlaced(
  db: Kysely<Database>,
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
    // It was stored before, and repaired then if needed.
    payload: JSON.stringify(payload),
    payloadRepaired: false,
  }));
  await untilStored(() => db.transaction().execute((trx) => recordFindings(trx, findings, pools)));
  return placed.length;
}
