import type { StopRequest } from '@paddock/db/workers/request-stops';
import type { HeldStop } from '@paddock/db/workers/worker-stops';
import type { GitHubFailure } from '@paddock/github/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { SharedCounters } from '../jobs/job-events.ts';

/** In one line of the log. */
const MOST_NAMES = 10;

/** What happens where workers are checked. */
export function workerEvents(log: Logger, metrics: Metrics, { recovered, oneFailed }: SharedCounters) {
  const requested = metrics.counter('paddock_worker_stops_requested_total', 'Workers past a deadline whose stop was asked for, by reason', [
    'reason',
  ]);
  const heldUp = metrics.gauge(
    'paddock_worker_stops_held_up',
    'Workers that have long been to be stopped and cannot be: a person is needed',
  );

  return {
    stopsRequested(stops: readonly StopRequest[]) {
      for (const { reason } of stops) requested.inc({ reason });
      if (stops.length > 0) log.warn('workers past a deadline are stopped', { count: stops.length, some: stops.slice(0, MOST_NAMES) });
    },
    stopsForgotten(podNames: readonly string[]) {
      recovered('worker_stop', podNames.length);
      log.warn('stops of workers that nobody was at are taken up again', { count: podNames.length, some: podNames.slice(0, MOST_NAMES) });
    },
    stopsHeldUp(stops: readonly HeldStop[]) {
      heldUp.set(stops.length);
      if (stops.length > 0) log.error('workers cannot be stopped', { count: stops.length, some: stops.slice(0, MOST_NAMES) });
    },
    runnersNotRead(account: string, failure: GitHubFailure | { repositoryId: number; message: string }) {
      oneFailed('check-workers');
      log.warn('GitHub could not be asked about the runners of an account', { account, failure });
    },
    runnersMissing(account: string, workers: number) {
      oneFailed('check-workers');
      log.warn('GitHub lists no runner where several of ours are registered: it is not believed', { account, workers });
    },
  };
}
