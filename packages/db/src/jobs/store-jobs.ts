import { jobOutcome } from '@paddock/domain/jobs/job-outcome';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { type JobRow, mergeStatement } from '@paddock/domain/jobs/merge-statement';
import { type IgnoredJob, type PlacedJob, REFUSED_ENTITY } from '@paddock/domain/pools/place-job';
import type { Kysely, Transaction } from 'kysely';
import type { InstallationMention } from '../entities/installations.ts';
import type { EventToAppend } from '../events/installation-events.ts';
import type { Database } from '../schema/tables.ts';
import type { JobToStore } from './job-to-store.ts';
import { readJobs } from './read-jobs.ts';
import { type JobToWrite, writeJobs, writeNewJob } from './write-jobs.ts';

/** The result of one statement, as if it had been stored alone. */
export interface StoredJob {
  readonly jobId: number;
  /** The status before; undefined without a row. */
  readonly before: JobRow['status'] | undefined;
  readonly changed: boolean;
  readonly outcome: Outcome;
  readonly place: PlacedJob | IgnoredJob;
  /** Our worker that runs the job; undefined also if it is assigned already. */
  readonly worker: string | undefined;
  /** The pool of that worker does not serve the job. */
  readonly isMisused: boolean;
  /** Its event is to be stored: the body has not left enough of them, or says something new. */
  readonly leavesRow: boolean;
}

/** A new job got a row between reading and writing. */
class JobAppeared extends Error {
  override readonly name = 'JobAppeared';
}

/**
 * Runs a transaction that stores jobs, again if another transaction has committed one of its new
 * jobs meanwhile.
 */
export async function untilStored<T>(store: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (!(error instanceof JobAppeared)) throw error;
    }
  }
}

/**
 * Merges statements into the rows of their jobs: reads and locks the rows, merges, and writes them
 * with the events of `eventsOf`. Returns the result of each statement, in order. Call it within
 * `untilStored`.
 *
 * All transactions lock in one order: the table of installations, pinned logins, known jobs by id,
 * installations, new jobs by id, workers. A known job is updated after the new ones are inserted.
 */
export async function storeJobs(
  trx: Transaction<Database>,
  jobs: readonly JobToStore[],
  poolsVersion: number,
  {
    mentions = [],
    eventsOf = () => [],
  }: {
    readonly mentions?: readonly InstallationMention[];
    readonly eventsOf?: ((stored: readonly StoredJob[]) => readonly EventToAppend[]) | undefined;
  } = {},
): Promise<StoredJob[]> {
  const stated = await readJobs(trx, jobs, mentions);
  const writes = new Map<number, JobToWrite>();
  const workers = new Set<string>();
  const now = Date.now();
  const stored = stated.map((job): StoredJob => {
    const { facts, isRefused, isUnbound } = job;
    const { jobId } = facts;
    const place = isRefused ? REFUSED_ENTITY : job.place;
    const before = writes.get(jobId)?.row ?? job.row ?? undefined;
    const after = mergeStatement(
      before,
      { ...job, place: 'ignored' in place ? undefined : place, poolsVersion },
      now,
    );
    const changed = after !== undefined && after !== before;
    if (changed)
      writes.set(jobId, {
        facts: writes.get(jobId)?.facts ?? facts,
        row: after,
        isNew: job.row === null,
      });
    const name = isUnbound ? job.worker?.podName : undefined;
    const worker = name === undefined || workers.has(name) ? undefined : name;
    if (worker !== undefined) workers.add(worker);
    const isMisused = changed && worker !== undefined && job.isMisused;
    const outcome =
      job.isRepeated && !changed
        ? 'repeated_body'
        : jobOutcome({ before, after, place, isMisused });
    const leavesRow = job.leavesRow || changed;
    return { jobId, before: before?.status, changed, outcome, place, worker, isMisused, leavesRow };
  });
  if (!(await writeJobs(trx, [...writes.values()], eventsOf(stored))))
    throw new JobAppeared('A new job has a row by now.');
  return stored;
}

/**
 * Stores a statement about a new waiting job in one statement and without a transaction around it:
 * a person waits for such a job, which mostly comes alone. Undefined, with nothing written, if the
 * job has a row or needs more than its pool and a known entity.
 */
export async function storeNewJob(
  db: Kysely<Database>,
  { facts, place, byLogin }: JobToStore,
  poolsVersion: number,
  eventOf: (outcome: Outcome) => EventToAppend,
): Promise<Outcome | undefined> {
  const { status, installationId, runnerName } = facts;
  if (status !== 'pending' || runnerName !== null || installationId === null) return undefined;
  if ('ignored' in place) return undefined;
  const statement = { facts, place, poolsVersion, installationId, worker: null };
  const row = mergeStatement(undefined, statement, Date.now());
  if (row === undefined) return undefined;
  const outcome = jobOutcome({ before: undefined, after: row, place, isMisused: false });
  const isStored = await writeNewJob(db, { facts, row, byLogin }, eventOf(outcome));
  return isStored ? outcome : undefined;
}
