import { type DeliveredStatement, foldJobStatements } from '@paddock/domain/fold-job-statements';
import type { JobResult } from '@paddock/domain/job-outcomes';
import { placeJob } from '@paddock/domain/place-job';
import type { Transaction } from 'kysely';
import { bindWorkers } from './bind-workers.ts';
import { storeJobs } from './jobs.ts';
import type { CurrentPools } from './pools-documents.ts';
import type { Database } from './tables.ts';

/**
 * Stores what GitHub says of any number of jobs, from deliveries or from a look-up, and binds the workers that run them (A5, B7).
 * Returns what became of each job, by its id.
 */
export async function recordJobs(
  trx: Transaction<Database>,
  statements: readonly DeliveredStatement[],
  pools: CurrentPools,
): Promise<Map<number, JobResult>> {
  if (statements.length === 0) return new Map();
  const jobs = foldJobStatements(statements).map((facts) => ({ facts, decision: placeJob(pools.document, facts) }));
  const stored = await storeJobs(
    trx,
    jobs.map(({ facts, decision }) => ({ facts, place: 'ignored' in decision ? undefined : decision })),
    pools.version,
  );
  await bindWorkers(
    trx,
    stored.flatMap(({ worker, isUnbound, jobId }) => (worker !== null && isUnbound ? [{ worker, jobId }] : [])),
  );
  const byId = new Map(stored.map((job) => [job.jobId, job]));
  return new Map(
    jobs.map(({ facts: { jobId }, decision }) => {
      const row = byId.get(jobId);
      return [jobId, { before: row?.before ?? undefined, changed: row?.changed === true, place: decision }];
    }),
  );
}
