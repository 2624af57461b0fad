import type { WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { GitHubFailure } from '@paddock/github/errors';
import { type KubeFailure, levelOf } from '@paddock/kube/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { SharedCounters } from '../shared-counters.ts';

/** The events of workers that are being stopped. */
export function stoppingEvents(
  log: Logger,
  metrics: Metrics,
  { ended, githubFailed, clusterFailed }: SharedCounters,
) {
  const kept = metrics.counter(
    'paddock_workers_kept_total',
    'Stops that were called off because the worker was at work, by pool',
    ['pool'],
  );

  return {
    workerKept({ podName, pool, stopReason, deliveryGuid }: WorkerToStop, why: string) {
      kept.inc({ pool });
      log.info('called off the stop of a worker', {
        podName,
        pool,
        reason: stopReason,
        why,
        deliveryGuid,
      });
    },
    runnerDeregistered({ podName, pool, stopReason, deliveryGuid }: WorkerToStop) {
      log.info('deregistered an idle runner at GitHub', {
        podName,
        pool,
        reason: stopReason,
        deliveryGuid,
      });
    },
    /** `why`: the cause that the pod shows. */
    runnerUnseen({ podName, pool, stopReason, deliveryGuid }: WorkerToStop, why: string) {
      log.warn('GitHub does not see the runner of a pod', {
        podName,
        pool,
        reason: stopReason,
        why,
        deliveryGuid,
      });
    },
    stoppedPodDeleted({ podName, pool, stopReason, deliveryGuid }: WorkerToStop) {
      log.info('deleted the pod of a stopped worker', {
        podName,
        pool,
        reason: stopReason,
        deliveryGuid,
      });
    },
    /** Called when its pod is gone and GitHub does not know its runner. */
    workerStopped({ podName, pool, stopReason, deliveryGuid }: WorkerToStop) {
      ended({ pool, status: 'failed', reason: stopReason ?? '' });
      log.info('worker stopped', { podName, pool, reason: stopReason, deliveryGuid });
    },
    stopFailed({ podName, deliveryGuid }: WorkerToStop, failure: GitHubFailure | KubeFailure) {
      if (failure.kind === 'rate_limited') return;
      const isGitHubs = 'operation' in failure;
      (isGitHubs ? githubFailed : clusterFailed)(failure.kind);
      log[isGitHubs ? 'warn' : levelOf(failure)](
        'a worker could not be stopped yet; the stop is retried',
        {
          podName,
          deliveryGuid,
          failure,
        },
      );
    },
  };
}
