import type { BegunWait } from '@paddock/db/entities/waits';
import type { GitHubFailure } from '@paddock/github/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { jobEvents } from './jobs/job-events.ts';
import type { SharedCounters } from './shared-counters.ts';
import { upkeepEvents } from './upkeep/upkeep-events.ts';
import { workerEvents } from './workers/worker-events.ts';

/** The reconciler's events: each function moves the metric and writes the log line of one event. */
export type ReconcilerEvents = ReturnType<typeof createEvents>;

export function createEvents(log: Logger, metrics: Metrics) {
  const recovery = metrics.counter('paddock_recovery_total', 'Repairs, by kind', ['kind']);
  const redeliveryFailures = metrics.counter(
    'paddock_redelivery_failures_total',
    'Redelivery calls that GitHub refused or did not answer, by step',
    ['step'],
  );
  const givenUp = metrics.counter(
    'paddock_redelivery_given_up_total',
    'Deliveries that GitHub can no longer repeat',
  );
  const withoutRow = metrics.counter(
    'paddock_deliveries_without_row_total',
    'Deliveries that GitHub calls successful and our events lack',
  );
  const ticks = metrics.counter(
    'paddock_schedule_ticks_total',
    'Ticks that this process took, by schedule',
    ['schedule'],
  );
  const missedTicks = metrics.counter(
    'paddock_schedule_missed_ticks_total',
    'Ticks that no process took in time, by schedule',
    ['schedule'],
  );
  const sweepFailures = metrics.counter(
    'paddock_sweep_failures_total',
    'Objects that a sweep failed on, by sweep',
    ['sweep'],
  );

  const shared: SharedCounters = {
    recovered: (kind, count) => recovery.inc({ kind }, count),
    objectFailed: (sweep) => sweepFailures.inc({ sweep }),
  };
  const cuts = metrics.counter(
    'paddock_database_connections_cut_total',
    'Times that connections to PostgreSQL were cut because it had gone silent',
  );

  return {
    ...jobEvents(log, metrics, shared),
    ...workerEvents(log, metrics, shared),
    ...upkeepEvents(log, shared),
    githubAsksToWait({ caller, ms, message }: BegunWait) {
      log.warn('GitHub asks us to wait: we make no such calls until then', {
        ...caller,
        seconds: Math.ceil(ms / 1_000),
        message,
      });
    },
    redelivered(appId: number, deliveryGuid: string) {
      recovery.inc({ kind: 'redelivered' });
      log.info('asked GitHub to repeat a delivery', { appId, deliveryGuid });
    },
    redeliveryRefused(appId: number, deliveryGuid: string, failure: GitHubFailure) {
      redeliveryFailures.inc({ step: 'request' });
      log.warn('GitHub did not accept a redelivery request', { appId, deliveryGuid, failure });
    },
    listingFailed(appId: number, failure: GitHubFailure) {
      redeliveryFailures.inc({ step: 'list' });
      log.warn('listing the delivery log broke off', { appId, failure });
    },
    redeliveriesGivenUp(appId: number, count: number) {
      givenUp.inc(count);
      log.error('gave up deliveries: GitHub can no longer repeat them', { appId, count });
    },
    /** After a failover, a restore, or when another endpoint answered in our place. */
    deliveredWithoutRow(appId: number, deliveryGuids: readonly string[], dueInMs: number) {
      withoutRow.inc(deliveryGuids.length);
      log.error(
        'we lost deliveries that GitHub calls successful: GitHub is asked to repeat them, unless redeliver is paused; find out where many were lost',
        {
          appId,
          count: deliveryGuids.length,
          some: deliveryGuids.slice(0, 10),
          inSeconds: dueInMs / 1000,
        },
      );
    },
    tickTaken(schedule: string, tickAt: Date, missed: number) {
      ticks.inc({ schedule });
      missedTicks.inc({ schedule }, missed);
      if (missed > 0)
        log.warn('no process took some ticks of a schedule', { schedule, tickAt, missed });
      else log.debug('took a tick', { schedule, tickAt });
    },
    sweepOverdue(sweep: string, seconds: number, why: string) {
      log.error('a sweep has not succeeded for several cadences: it repairs nothing meanwhile', {
        sweep,
        forSeconds: Math.round(seconds),
        why,
      });
    },
    sweepSucceedsAgain(sweep: string) {
      log.info('a sweep succeeds again', { sweep });
    },
    scheduleFailed(error: unknown) {
      log.error('could not read the schedules; trying again', { error });
    },
    tasksRecovered(count: number) {
      if (count === 0) return;
      recovery.inc({ kind: 'task' }, count);
      log.warn('recovered stuck tasks', { count });
    },
    notReady(reason: string) {
      log.warn('not ready', { reason });
    },
    connectionCut({ message: reason }: Error) {
      cuts.inc();
      log.warn('cut the connections to PostgreSQL', { reason });
    },
  };
}
