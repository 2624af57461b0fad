import type { BegunWait } from '@paddock/db/entities/waits';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { followingEvents } from './following/following-events.ts';
import { matchingEvents } from './matching/matching-events.ts';
import { provisioningEvents } from './provisioning/provisioning-events.ts';
import type { SharedCounters } from './shared-counters.ts';
import { stoppingEvents } from './stopping/stopping-events.ts';

/** The scheduler's events. Each function moves the metric and writes the log line of one event. */
export type SchedulerEvents = ReturnType<typeof createEvents>;

export function createEvents(log: Logger, metrics: Metrics) {
  const ended = metrics.counter(
    'paddock_workers_ended_total',
    'Workers that ended, by pool, status and why they failed',
    ['pool', 'status', 'reason'],
  );
  const githubFailures = metrics.counter(
    'paddock_github_failures_total',
    'Calls of GitHub that failed while the scheduler made or stopped workers, by kind',
    ['kind'],
  );
  const clusterFailures = metrics.counter(
    'paddock_cluster_failures_total',
    'Calls of the cluster that failed, by kind',
    ['kind'],
  );
  const cuts = metrics.counter(
    'paddock_database_connections_cut_total',
    'Times that connections to PostgreSQL were cut because it had gone silent',
  );

  const shared: SharedCounters = {
    ended: (labels) => ended.inc(labels),
    githubFailed: (kind) => githubFailures.inc({ kind }),
    clusterFailed: (kind) => clusterFailures.inc({ kind }),
  };

  return {
    ...matchingEvents(log, metrics),
    ...provisioningEvents(log, metrics, shared),
    ...followingEvents(log, metrics, shared),
    ...stoppingEvents(log, metrics, shared),
    githubAsksToWait({ caller, ms, message }: BegunWait) {
      shared.githubFailed('rate_limited');
      log.warn('GitHub asks for a pause: its calls wait', {
        ...caller,
        seconds: Math.ceil(ms / 1_000),
        message,
      });
    },
    notReady(reason: string) {
      log.warn('not ready', { reason });
    },
    connectionCut({ message: reason }: Error) {
      cuts.inc();
      log.warn('cut connections to PostgreSQL', { reason });
    },
  };
}
