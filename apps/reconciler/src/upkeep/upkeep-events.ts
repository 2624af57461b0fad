import type { GitHubFailure } from '@paddock/github/errors';
import { levelOf } from '@paddock/kube/cluster-events';
import type { KubeFailure } from '@paddock/kube/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { SharedCounters } from '../shared-counters.ts';

/** What happens where the Apps are checked and what is no longer needed is removed. */
export function upkeepEvents(log: Logger, metrics: Metrics, { recovered, objectFailed }: SharedCounters) {
  const refusedPasses = metrics.counter(
    'paddock_sweep_over_cap_total',
    'Passes of a sweep that did nothing because they would have removed more than their cap, by sweep',
    ['sweep'],
  );

  return {
    appChecked(appId: number, found: readonly string[]) {
      for (const problem of found) log.error('the GitHub App cannot do its work: change it at GitHub', { appId, problem });
    },
    appNotChecked(appId: number, failure: GitHubFailure) {
      objectFailed('check-apps');
      log.warn('a GitHub App could not be checked', { appId, failure });
    },
    tooManyUnlisted(appId: number, count: number) {
      objectFailed('check-apps');
      log.error('GitHub lists too few installations of an App to be believed: none is taken for gone', { appId, missing: count });
    },
    podNotDeleted(podName: string, failure: KubeFailure) {
      objectFailed('delete-ended-pods');
      log[levelOf(failure)]('pod of an ended worker could not be deleted', { podName, failure });
    },
    podStillRuns(podName: string, phase: string) {
      log.warn('the worker has ended but its pod has not: it is left alone', { podName, phase });
    },
    secretsForgotten(podNames: readonly string[]) {
      recovered('secret', podNames.length);
      log.warn('Secrets of ended workers are still there: they are removed again', { count: podNames.length, some: podNames.slice(0, 10) });
    },
    registrationRemoved(podName: string) {
      recovered('registration_removed', 1);
      log.info('left registration removed', { podName });
    },
    registrationLeft(podName: string, why: string) {
      log.info('registration of a failed worker is left alone', { podName, why });
    },
    registrationNotChecked(podName: string, failure: GitHubFailure) {
      objectFailed('remove-registrations');
      log.warn('registration of a failed worker could not be looked up or removed', { podName, failure });
    },
    strayRegistrationRemoved(podName: string) {
      recovered('stray_registration_removed', 1);
      log.warn('registration removed that bears our name and has no worker here', { podName });
    },
    /** Without a failure GitHub does not show us the repository. */
    strayRegistrationsNotChecked(entity: string, failure: GitHubFailure | undefined) {
      objectFailed('remove-stray-registrations');
      log.warn('registrations of an entity could not be compared with its workers', { entity, failure });
    },
    straySecretNotRemoved(podName: string, failure: KubeFailure) {
      objectFailed('remove-stray-registrations');
      log.warn('Secret of a registration without a worker could not be removed; both are tried again', { podName, failure });
    },
    /** After a restore, say: then they are for a person to look at. */
    tooManyStrays(count: number, cap: number) {
      refusedPasses.inc({ sweep: 'remove-stray-registrations' });
      log.error('more registrations without a worker than may be removed at once: none is', { count, cap });
    },
  };
}
