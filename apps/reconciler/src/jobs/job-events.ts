import type { JoblessEnd } from '@paddock/db/jobs/jobs-in-doubt';
import type { LookUpNote } from '@paddock/db/jobs/note-look-ups';
import type { StoredJob } from '@paddock/db/jobs/store-jobs';
import type { GitHubFailure } from '@paddock/github/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { Unanswered } from '../passes/ask-github.ts';
import type { SharedCounters } from '../shared-counters.ts';

/** Events of comparing our jobs with GitHub's. */
export function jobEvents(
  log: Logger,
  metrics: Metrics,
  { recovered, objectFailed }: SharedCounters,
) {
  const verdicts = metrics.counter(
    'paddock_jobs_looked_up_total',
    'Jobs in doubt that we looked up at GitHub, by verdict',
    ['verdict'],
  );
  const misused = metrics.counter(
    'paddock_workers_misused_total',
    'Workers that GitHub gave a job that their pool does not serve: of another entity or repository, or of a public one',
  );

  return {
    workersMisused(stored: readonly StoredJob[]) {
      const jobIds = stored.filter(({ isMisused }) => isMisused).map(({ jobId }) => jobId);
      if (jobIds.length === 0) return;
      misused.inc(jobIds.length);
      log.warn(
        'jobs run on workers whose pool does not serve them: check who may use the runner group',
        { jobIds },
      );
    },
    jobsRecovered(jobIds: readonly number[]) {
      if (jobIds.length === 0) return;
      recovered('job', jobIds.length);
      log.warn('looking up stuck jobs at GitHub', {
        count: jobIds.length,
        some: jobIds.slice(0, 10),
      });
    },
    jobsFailedUnasked(jobIds: readonly number[]) {
      if (jobIds.length === 0) return;
      recovered('job_failed', jobIds.length);
      log.error('failed stuck jobs: GitHub has not answered about them for too long', {
        count: jobIds.length,
        some: jobIds.slice(0, 10),
      });
    },
    jobsLookedUp(notes: readonly LookUpNote[]) {
      for (const { jobId, verdict } of notes) {
        verdicts.inc({ verdict: verdict.kind });
        if (verdict.kind === 'requeued')
          log.warn('GitHub calls a job queued that had a worker: it waits again', { jobId });
        else if (verdict.kind === 'failed')
          log.warn('failed a job after GitHub’s answer', { jobId, reason: verdict.message });
        else log.debug('looked up a job', { jobId, verdict: verdict.kind });
      }
    },
    joblessEnds(ends: readonly JoblessEnd[]) {
      log.warn('runners succeeded without a job: check their pool’s image and command', {
        count: ends.length,
        some: ends.slice(0, 10),
      });
    },
    /** Undefined failure: GitHub does not show us the object. */
    notAnswered(
      sweep: 'look-up-jobs' | 'discover-jobs',
      asked: Unanswered,
      failure: GitHubFailure | undefined,
    ) {
      objectFailed(sweep);
      if (failure === undefined)
        log.warn('GitHub does not show us an object: check the App’s installation', {
          sweep,
          ...asked,
        });
      else log.warn('GitHub did not answer', { sweep, ...asked, failure });
    },
    jobsDiscovered(found: readonly { event: string; jobId: number }[]) {
      if (found.length === 0) return;
      recovered('job_discovered', found.length);
      log.warn('found jobs that no delivery announced', {
        count: found.length,
        some: found.slice(0, 10),
      });
    },
    jobsMisjudged(jobIds: readonly number[]) {
      log.error('GitHub completed jobs that we had failed', { jobIds });
    },
  };
}
