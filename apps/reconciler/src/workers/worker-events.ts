import type { StopRequest } from '@paddock/db/workers/request-stops';
import type { EndingVersion } from '@paddock/db/workers/runner-versions';
import type { HeldStop } from '@paddock/db/workers/worker-stops';
import type { GitHubFailure } from '@paddock/github/errors';
import { type KubeFailure, levelOf } from '@paddock/kube/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { SharedCounters } from '../shared-counters.ts';

/** In one line of the log. */
const MOST_NAMES = 10;

/** Events of checking workers and of cleaning up after them. */
export function workerEvents(
  log: Logger,
  metrics: Metrics,
  { recovered, objectFailed }: SharedCounters,
) {
  const requested = metrics.counter(
    'paddock_worker_stops_requested_total',
    'Workers past a deadline whose stop was requested, by reason',
    ['reason'],
  );

  const refusedPasses = metrics.counter(
    'paddock_sweep_over_cap_total',
    'Passes that removed nothing because they had more to remove than their cap, by sweep',
    ['sweep'],
  );

  return {
    versionEnds({ pool, version, daysLeft: days }: EndingVersion) {
      const message =
        days > 0
          ? 'GitHub will soon stop serving a pool’s runner version: give the pool a newer image'
          : 'GitHub no longer serves a pool’s runner version: give the pool a newer image';
      log.warn(message, { pool, version, daysLeft: Math.floor(days) });
    },
    versionNotRead(pool: string, podName: string, failure: KubeFailure) {
      objectFailed('check-runner-versions');
      log[levelOf(failure)]('could not read a runner’s version from its log', {
        pool,
        podName,
        failure,
      });
    },
    /** Undefined failure: GitHub does not show us the repository. */
    versionEndUnknown(pool: string, failure: GitHubFailure | undefined) {
      objectFailed('check-runner-versions');
      log.warn('GitHub did not answer when a pool’s runner version ends', { pool, failure });
    },
    stopsRequested(stops: readonly StopRequest[]) {
      for (const { reason } of stops) requested.inc({ reason });
      if (stops.length > 0)
        log.warn('requested the stop of workers past a deadline', {
          count: stops.length,
          some: stops.slice(0, MOST_NAMES),
        });
    },
    stopsWithoutTask(podNames: readonly string[]) {
      recovered('worker_stop', podNames.length);
      log.warn('enqueued stops of workers again that had no task', {
        count: podNames.length,
        some: podNames.slice(0, MOST_NAMES),
      });
    },
    stopsHeldUp(stops: readonly HeldStop[]) {
      if (stops.length > 0)
        log.error('workers cannot be stopped: see the obstacle of each stop', {
          count: stops.length,
          some: stops.slice(0, MOST_NAMES),
        });
    },
    /** Undefined failure: GitHub does not show us the repository. */
    runnersNotRead(entity: string, failure: GitHubFailure | undefined) {
      objectFailed('check-workers');
      log.warn('could not read the runners of an entity from GitHub', { entity, failure });
    },
    runnersMissing(entity: string, workers: number) {
      objectFailed('check-workers');
      log.warn('ignored GitHub’s list without our runners, although several are registered', {
        entity,
        workers,
      });
    },
    podNotDeleted(podName: string, failure: KubeFailure) {
      objectFailed('delete-ended-pods');
      log[levelOf(failure)]('could not delete the pod of an ended worker', { podName, failure });
    },
    podStillRuns(podName: string, phase: string) {
      log.warn('left the pod of an ended worker alone: the pod still runs', { podName, phase });
    },
    secretsForgotten(podNames: readonly string[]) {
      recovered('secret', podNames.length);
      log.warn('removing Secrets of ended workers again: they may still exist', {
        count: podNames.length,
        some: podNames.slice(0, MOST_NAMES),
      });
    },
    registrationRemoved(podName: string) {
      recovered('registration_removed', 1);
      log.info('removed the registration of a failed worker', { podName });
    },
    registrationLeft(podName: string, why: string) {
      log.info('left the registration of a failed worker alone', { podName, why });
    },
    /** Undefined failure: GitHub does not show us the repository. */
    registrationNotChecked(podName: string, failure: GitHubFailure | undefined) {
      objectFailed('remove-registrations');
      log.warn('could not look up or remove the registration of a failed worker', {
        podName,
        failure,
      });
    },
    strayRegistrationRemoved(podName: string) {
      recovered('stray_registration_removed', 1);
      log.warn('removed a registration with our name and without a worker', { podName });
    },
    /** Undefined failure: GitHub does not show us the repository. */
    strayRegistrationsNotChecked(entity: string, failure: GitHubFailure | undefined) {
      objectFailed('remove-stray-registrations');
      log.warn('could not compare the registrations of an entity with its workers', {
        entity,
        failure,
      });
    },
    straySecretNotRemoved(podName: string, failure: KubeFailure) {
      objectFailed('remove-stray-registrations');
      log.warn(
        'could not remove the Secret of a registration without a worker; trying both again',
        { podName, failure },
      );
    },
    /** For example after a restore: an operator must check them. */
    tooManyStrays(count: number, cap: number) {
      refusedPasses.inc({ sweep: 'remove-stray-registrations' });
      log.error(
        'removed no registration without a worker, since there are more than the cap: check our rows',
        { count, cap },
      );
    },
  };
}
