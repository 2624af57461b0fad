import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';

/**
 * The events of the configuration file's pools. Each function moves the metric and writes the log
 * line of one event.
 */
export type PoolsEvents = ReturnType<typeof createPoolsEvents>;

export function createPoolsEvents(log: Logger, metrics: Metrics) {
  const reconsidered = metrics.counter(
    'paddock_jobs_reconsidered_total',
    'Jobs that a change of the pools gave another pool, or their first',
  );
  const fileRefused = metrics.gauge(
    'paddock_pools_file_refused',
    '1 while the configuration file is refused',
  );

  return {
    /** The configuration file has changed and is invalid. */
    fileRefused(problems: readonly string[]) {
      fileRefused.set(1);
      log.error(
        'configuration file refused: the pools loaded before stay in force until you mend it',
        { problems },
      );
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
      if (jobs > 0)
        log.info('a change of the pools gave jobs another pool, or their first', { version, jobs });
    },
    notLoaded(error: unknown) {
      log.warn('the pools could not be stored or read; the scheduler tries again', { error });
    },
  };
}
