import {
  type DeliveredStatement,
  foldJobStatements,
  splitByRunner,
} from '@paddock/domain/deliveries/fold-job-statements';
import type { JobResult } from '@paddock/domain/deliveries/job-outcomes';
import { REFUSED_ENTITY } from '@paddock/domain/pools/place-job';
import type { Transaction } from 'kysely';
import { bindWorkers } from '../workers/bind-workers.ts';
import { findEarlierStatements } from './earlier-statements.ts';
import { type StoredJob, storeJobs } from './jobs.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { decideOn } from './stated-columns.ts';
import type { Database } from '../schema/tables.ts';

/**
 * Stores statements of jobs, from deliveries or a look-up, and binds the workers that run them.
 * Returns the result of each job, by its id.
 */
export async function recordJobs(
  trx: Transaction<Database>,
  statements: readonly DeliveredStatement[],
  pools: CurrentPools,
): Promise<Map<number, JobResult>> {
  if (statements.length === 0) return new Map();
  const stored = await storeAll(trx, statements, pools);
  await bindRunners(trx, statements, stored, pools);
  return new Map([...stored].map(([jobId, { result }]) => [jobId, result]));
}

/** Binds the workers that run jobs which were just stored from these statements. */
export async function bindRunners(
  trx: Transaction<Database>,
  statements: readonly DeliveredStatement[],
  stored: StoredJobs,
  pools: CurrentPools,
): Promise<void> {
  const found = [...stored].filter(([, { result }]) => isFound(result)).map(([jobId]) => jobId);
  if (found.length > 0) {
    // Earlier statements of such a job had no row.
    const known = statements.filter(({ jobId }) => found.includes(jobId));
    for (const [jobId, { workers }] of await storeAll(
      trx,
      [...known, ...(await findEarlierStatements(trx, found))],
      pools,
    )) {
      stored.get(jobId)?.workers.push(...workers);
    }
  }
  await bindWorkers(
    trx,
    [...stored].flatMap(([jobId, { workers }]) => workers.map((worker) => ({ worker, jobId }))),
  );
}

/** The job fits no pool and has just got a row: it was seen on one of our workers. */
const isFound = ({ before, changed, place }: JobResult): boolean =>
  before === undefined && changed && 'ignored' in place;

interface Stored {
  readonly result: JobResult;
  /** Our workers that run the job and are not assigned yet. */
  readonly workers: string[];
}

/** By the jobs' ids. */
export type StoredJobs = Map<number, Stored>;

async function storeAll(
  trx: Transaction<Database>,
  statements: readonly DeliveredStatement[],
  pools: CurrentPools,
): Promise<StoredJobs> {
  const all: StoredJobs = new Map();
  for (const round of splitByRunner(statements)) {
    const jobs = foldJobStatements(round).map((facts) => decideOn(pools.document, facts));
    const stored = await storeJobs(trx, jobs, pools.version);
    const byId = new Map(stored.map((job) => [job.jobId, job]));
    for (const { facts, decision } of jobs)
      addStored(all, facts.jobId, byId.get(facts.jobId), decision);
  }
  return all;
}

/** Adds the result of one statement for a job; the first of several knows the former status. */
export function addStored(
  all: StoredJobs,
  jobId: number,
  row: StoredJob | undefined,
  place: JobResult['place'],
): void {
  const earlier = all.get(jobId);
  const before = earlier === undefined ? (row?.before ?? undefined) : earlier.result.before;
  const changed = row?.changed === true || earlier?.result.changed === true;
  const workers = earlier?.workers ?? [];
  if (row !== undefined && row.worker !== null && row.isUnbound) workers.push(row.worker);
  const isMisused = row?.isMisused === true || earlier?.result.isMisused === true;
  all.set(jobId, {
    result: { before, changed, place: row?.isRefused === true ? REFUSED_ENTITY : place, isMisused },
    workers,
  });
}
