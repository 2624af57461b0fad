import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import type { Transaction } from 'kysely';
import type { EventToAppend } from '../events/installation-events.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import type { Database } from '../schema/tables.ts';
import { bindWorkers } from '../workers/bind-workers.ts';
import { findEarlierStatements } from './earlier-statements.ts';
import { jobToStore } from './job-to-store.ts';
import { storeJobs, type StoredJob } from './store-jobs.ts';

/**
 * Stores statements of jobs that came without a delivery, and binds the workers that run them.
 * `eventsOf` are the events to append. Returns the result of each, in order.
 */
export async function recordJobs(
  trx: Transaction<Database>,
  statements: readonly DeliveredStatement[],
  pools: CurrentPools,
  eventsOf?: (stored: readonly StoredJob[]) => readonly EventToAppend[],
): Promise<StoredJob[]> {
  const jobs = statements.map((facts) => jobToStore(pools.document, facts));
  const stored = await storeJobs(trx, jobs, pools.version, { eventsOf });
  await bindRunners(trx, stored, pools);
  return stored;
}

/** Binds the workers that run jobs which were just stored. */
export async function bindRunners(
  trx: Transaction<Database>,
  stored: readonly StoredJob[],
  pools: CurrentPools,
): Promise<void> {
  const found = stored.filter(isFound).map(({ jobId }) => jobId);
  const earlier =
    found.length === 0
      ? []
      : await storeJobs(
          trx,
          (await findEarlierStatements(trx, found)).map((facts) =>
            jobToStore(pools.document, facts),
          ),
          pools.version,
        );
  await bindWorkers(
    trx,
    [...stored, ...earlier].flatMap(({ worker, jobId }) =>
      worker === undefined ? [] : [{ worker, jobId }],
    ),
  );
}

/**
 * No pool serves the job, which has just got a row: it was seen on one of our workers. Its earlier
 * deliveries had no row.
 */
const isFound = ({ before, changed, place }: StoredJob): boolean =>
  before === undefined && changed && 'ignored' in place;
