import type { StopRequest } from '@paddock/db/workers/request-stops';
import type { EndingVersion } from '@paddock/db/workers/runner-versions';
import type { HeldStop } from '@paddock/db/workers/worker-stops';
import type { GitHubFailure } from '@paddock/github/errors';
import { levelOf } from '@paddock/kube/cluster-events';
import type { KubeFailure } from '@paddock/kube/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { SharedCounters } from '../shared-counters.ts';

/** In one line of the log. */
const MOST_NAMES = 10;

/** What happens where workers are checked. */
export function workerEvents(log: Logger, metrics: Metrics, { recovered, objectFailed }: SharedCounters) {
  const requested = metrics.counter('paddock_worker_stops_requested_total', 'Workers past a deadline whose stop was asked for, by reason', [
    'reason',
  ]);

  return {
    versionEnds({ pool, version, daysLeft: days }: EndingVersion) {
      const message =
        days > 0
          ? 'GitHub will soon serve the version of a pool’s runners no more: give the pool a newer image'
          : 'GitHub serves the version of a pool’s runners no more: give the pool a newer image';
      log.warn(message, { pool, version, daysLeft: Math.floor(days) });
    },
    versionNotRead(pool: string, podName: string, failure: KubeFailure) {
      objectFailed('check-runner-versions');
      log[levelOf(failure)]('the log of a runner could not be read for its version', { pool, podName, failure });
    },
    /** Without a failure GitHub does not show us the repository. */
    versionEndUnknown(pool: string, version: string, failure: GitHubFailure | undefined) {
      objectFailed('check-runner-versions');
      log.warn('GitHub did not say when the version of a pool’s runners ends', { pool, version, failure });
    },
    stopsRequested(stops: readonly StopRequest[]) {
      for (const { reason } of stops) requested.inc({ reason });
      if (stops.length > 0) log.warn('workers past a deadline are stopped', { count: stops.length, some: stops.slice(0, MOST_NAMES) });
    },
    stopsForgotten(podNames: readonly string[]) {
      recovered('worker_stop', podNames.length);
      log.warn('stops of workers that nobody was at are taken up again', { count: podNames.length, some: podNames.slice(0, MOST_NAMES) });
    },
    stopsHeldUp(stops: readonly HeldStop[]) {
      if (stops.length > 0) log.error('workers cannot be stopped', { count: stops.length, some: stops.slice(0, MOST_NAMES) });
    },
    runnersNotRead(entity: string, failure: GitHubFailure | { repositoryId: number; message: string }) {
      objectFailed('check-workers');
      log.warn('GitHub could not be asked about the runners of an entity', { entity, failure });
    },
    runnersMissing(entity: string, workers: number) {
      objectFailed('check-workers');
      log.warn('GitHub lists no runner where several of ours are registered: it is not believed', { entity, workers });
    },
  };
}
