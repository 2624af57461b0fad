import type { GitHubFailure } from '@paddock/github/errors';
import { levelOf } from '@paddock/kube/cluster-events';
import type { KubeFailure } from '@paddock/kube/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { SharedCounters } from '../shared-counters.ts';

/** Events of checking Apps and of cleaning up after workers. */
export function upkeepEvents(log: Logger, metrics: Metrics, { recovered, objectFailed }: SharedCounters) {
  const refusedPasses = metrics.counter(
    'paddock_sweep_over_cap_total',
    'Passes that removed nothing because they had more to remove than their cap, by sweep',
    ['sweep'],
  );

  return {
    appChecked(appId: number, found: readonly string[]) {
      for (const problem of found) log.error('a GitHub App lacks a permission or an event: change the App at GitHub', { appId, problem });
    },
    appNotChecked(appId: number, failure: GitHubFailure) {
      objectFailed('check-apps');
      log.warn('could not check a GitHub App', { appId, failure });
    },
    tooManyUnlisted(appId: number, count: number) {
      objectFailed('check-apps');
      log.error('GitHub’s list lacks too many installations of an App: ignored the list', { appId, missing: count });
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
      log.warn('removing Secrets of ended workers again: they may still exist', { count: podNames.length, some: podNames.slice(0, 10) });
    },
    registrationRemoved(podName: string) {
      recovered('registration_removed', 1);
      log.info('removed the registration of a failed worker', { podName });
    },
    registrationLeft(podName: string, why: string) {
      log.info('left the registration of a failed worker alone', { podName, why });
    },
    registrationNotChecked(podName: string, failure: GitHubFailure) {
      objectFailed('remove-registrations');
      log.warn('could not look up or remove the registration of a failed worker', { podName, failure });
    },
    strayRegistrationRemoved(podName: string) {
      recovered('stray_registration_removed', 1);
      log.warn('removed a registration with our name and without a worker', { podName });
    },
    /** Undefined failure: GitHub does not show us the repository. */
    strayRegistrationsNotChecked(entity: string, failure: GitHubFailure | undefined) {
      objectFailed('remove-stray-registrations');
      log.warn('could not compare the registrations of an entity with its workers', { entity, failure });
    },
    straySecretNotRemoved(podName: string, failure: KubeFailure) {
      objectFailed('remove-stray-registrations');
      log.warn('could not remove the Secret of a registration without a worker; trying both again', { podName, failure });
    },
    /** For example after a restore: an operator must check them. */
    tooManyStrays(count: number, cap: number) {
      refusedPasses.inc({ sweep: 'remove-stray-registrations' });
      log.error('removed no registration without a worker, since there are more than the cap: check our rows', { count, cap });
    },
  };
}
