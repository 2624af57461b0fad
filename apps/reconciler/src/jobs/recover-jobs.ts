import {
  failLostJobs,
  findJobsInDoubt,
  type DoubtRules,
  recoverJobs,
} from '@paddock/db/jobs/stuck-jobs';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';

export interface RecoverJobsOptions {
  db: Kysely<Database>;
  events: Pick<ReconcilerEvents, 'jobsRecovered' | 'jobsFailedUnasked'>;
  rules: DoubtRules;
  /** Write nothing. */
  dryRun: boolean;
}

export interface RecoveredJobsCounts {
  found: number;
  /** Stuck jobs: counts the recovery, looks the job up, wakes the matcher. */
  recovered: number;
  /** Jobs in doubt but not stuck: only looks them up. */
  suspected: number;
  failed: number;
  full: boolean;
}

/**
 * One pass over jobs in doubt: one SELECT, and at most two UPDATEs, fenced by what it read. It
 * moves no status backwards: a doubt is settled by asking GitHub. A job fails here only after
 * GitHub has not answered for so long that the job can no longer run.
 */
export async function recoverStuckJobs({
  db,
  events,
  rules,
  dryRun,
}: RecoverJobsOptions): Promise<RecoveredJobsCounts> {
  const inDoubt = await findJobsInDoubt(db, rules);
  const lost = inDoubt.filter(({ isLost }) => isLost);
  const others = inDoubt.filter(({ isLost }) => !isLost);
  const stuck = new Set(
    others
      .filter(({ doubt }) => doubt === 'unserved' || doubt === 'worker_ended')
      .map(({ jobId }) => jobId),
  );
  const acted = dryRun ? others.map(({ jobId }) => jobId) : await recoverJobs(db, others);
  const failed = dryRun
    ? lost.map(({ jobId }) => jobId)
    : await failLostJobs(db, lost, whyLost(rules));
  const recovered = acted.filter((jobId) => stuck.has(jobId));
  if (!dryRun) {
    events.jobsRecovered(recovered);
    events.jobsFailedUnasked(failed);
  }
  return {
    found: inDoubt.length,
    recovered: recovered.length,
    suspected: acted.length - recovered.length,
    failed: failed.length,
    full: inDoubt.length >= rules.batch,
  };
}

const whyLost = ({ limit, silenceMs }: DoubtRules): string =>
  `the job was stuck, ${limit} recoveries did not help, and GitHub has not answered for it for ${Math.round(silenceMs / 60_000)} minutes`;
