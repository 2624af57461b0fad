import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';

/**
 * What happens to the pools of the configuration file: each function moves the metric and writes
 * the log line of one event.
 */
export type PoolsEvents = ReturnType<typeof createPoolsEvents>;

export function createPoolsEvents(log: Logger, metrics: Metrics) {
  const reconsidered = metrics.counter(
    'paddock_jobs_reconsidered_total',
    'Jobs that have another pool since the pools changed, or have one where none served them',
  );
  const fileRefused = metrics.gauge('paddock_pools_file_refused', '1 while the configuration file is one that cannot be used');

  return {
    /** The configuration file has changed into something that cannot be used. */
    fileRefused(problems: readonly string[]) {
      fileRefused.set(1);
      log.error('configuration file refused, the pools loaded before stay in force', { problems });
    },
    fileAccepted() {
      fileRefused.set(0);
      log.info('configuration file read');
    },
    inForce(version: number) {
      log.info('pools document in force', { version });
    },
    jobsReconsidered(version: number, jobs: number) {
      reconsidered.inc(jobs);
      if (jobs > 0) log.info('jobs have another pool, or one where none served them', { version, jobs });
    },
    notLoaded(error: unknown) {
      log.warn('pools document could not be loaded or read', { error });
    },
  };
}
