import type { PodToAdopt } from '@paddock/db/workers/adopt-workers';
import type { UnstartableWorker } from '@paddock/db/workers/stuck-pods';
import type { PodTransition, VanishedWorker } from '@paddock/db/workers/worker-pods';
import { type KubeFailure, levelOf } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { LATENCY_BUCKETS, MOST_NAMES, type SharedCounters } from '../shared-counters.ts';

/** The events of pods, as the cluster reports them. */
export function followingEvents(
  log: Logger,
  metrics: Metrics,
  { ended, clusterFailed }: SharedCounters,
) {
  const unexplained = metrics.counter(
    'paddock_workers_unexplained_total',
    'Workers that may have run a job that no delivery reported, by pool',
    ['pool'],
  );
  const stuck = metrics.counter(
    'paddock_pods_stuck_total',
    'Pods that did not start or did not go, by pool and reason',
    ['pool', 'reason'],
  );
  const vanished = metrics.counter(
    'paddock_pods_vanished_total',
    'Pods that vanished while their workers lived, by pool',
    ['pool'],
  );
  const listsUnconfirmed = metrics.counter(
    'paddock_pod_lists_unconfirmed_total',
    'Lists that lacked most of the known pods, by namespace',
    ['namespace'],
  );
  const adopted = metrics.counter(
    'paddock_pods_adopted_total',
    'Pods with Paddock’s labels and no row that were adopted, by pool',
    ['pool'],
  );
  const notRecorded = metrics.counter(
    'paddock_pods_not_recorded_total',
    'States of pods that PostgreSQL could not store, by namespace',
    ['namespace'],
  );
  const withoutRow = metrics.gauge(
    'paddock_pods_without_row',
    'Pods with Paddock’s labels and no row that cannot be adopted, by namespace',
    ['namespace'],
  );
  const toRunning = metrics.histogram(
    'paddock_worker_to_running_seconds',
    'From a worker’s reservation to its pod running',
    LATENCY_BUCKETS,
    ['pool'],
  );

  return {
    podChanged(transition: PodTransition) {
      const { podName, pool, was, status, startSeconds } = transition;
      if (transition.newlyStuck !== null)
        this.podStuck({ podName, pool, reason: transition.newlyStuck });
      if (was === status) return;
      if (was === 'pending' && startSeconds !== null)
        toRunning.observe({ pool }, Math.max(0, startSeconds));
      if (status === 'completed' || status === 'failed')
        ended({ pool, status, reason: transition.failureReason ?? '' });
      if (transition.unexplained) unexplained.inc({ pool });
      log.info('worker changed', {
        podName,
        pool,
        was,
        status,
        reason: transition.failureReason,
        unexplained: transition.unexplained,
      });
    },
    podStuck({ podName, pool, reason }: { podName: string; pool: string; reason: string }) {
      stuck.inc({ pool, reason });
      log.warn('a pod does not start or does not go: see failure_info in the row of its worker', {
        podName,
        pool,
        reason,
      });
    },
    unstartableStopped(workers: readonly UnstartableWorker[]) {
      for (const [pool, ofPool] of Map.groupBy(workers, (worker) => worker.pool)) {
        const podNames = ofPool.slice(0, MOST_NAMES).map(({ podName }) => podName);
        const reasons = [...new Set(ofPool.map(({ reason }) => reason))];
        log.warn(
          'stopping workers whose pods cannot start: check the pool’s image and template; failure_info in their rows has the reason',
          {
            pool,
            reasons,
            count: ofPool.length,
            podNames,
          },
        );
      }
    },
    podsVanished(workers: readonly VanishedWorker[]) {
      if (workers.length === 0) return;
      for (const { pool } of workers) vanished.inc({ pool });
      const podNames = workers.slice(0, MOST_NAMES).map(({ podName }) => podName);
      log.warn('pods vanished from the cluster: their workers are being stopped', {
        count: workers.length,
        podNames,
      });
    },
    /**
     * For each complete list: how many pods are known, and how many missing ones are unconfirmed or
     * gone.
     */
    absenceJudged(
      namespace: string,
      {
        known,
        before,
        unconfirmed,
        gone,
      }: { known: number; before: number; unconfirmed: number; gone: number },
    ) {
      if (unconfirmed > 0) {
        listsUnconfirmed.inc({ namespace });
        log.warn(
          'a list lacks most known pods: none counts as gone until a second list confirms it',
          {
            namespace,
            known,
            unconfirmed,
          },
        );
      } else if (before > gone)
        log.info('pods missing from the last list are there again', {
          namespace,
          known,
          before,
          gone,
        });
    },
    podAdopted({ podName, pool, namespace }: PodToAdopt) {
      adopted.inc({ pool });
      log.warn('adopted a pod that had no row', { podName, pool, namespace });
    },
    podNotRecorded({ name, namespace }: ObservedPod, error: unknown) {
      notRecorded.inc({ namespace });
      log.error(
        'PostgreSQL cannot store the state of a pod, so its row stays: look at the pod’s status, and delete the pod if it has ended',
        {
          podName: name,
          namespace,
          error,
        },
      );
    },
    /**
     * Another replica may follow the pods now, so this one must not keep showing its last value.
     */
    followingEnded() {
      withoutRow.reset();
    },
    /** For each complete list. */
    podsWithoutRow(namespace: string, podNames: readonly string[]) {
      withoutRow.set({ namespace }, podNames.length);
      if (podNames.length === 0) return;
      const shown = podNames.slice(0, MOST_NAMES);
      log.warn('pods carry Paddock’s labels but cannot be adopted: remove the labels or the pods', {
        namespace,
        count: podNames.length,
        podNames: shown,
      });
    },
    watchInterrupted(namespace: string, failure: KubeFailure, retryInMs: number) {
      clusterFailed(failure.kind);
      log[levelOf(failure)]('the watch of pods was interrupted and is retried', {
        namespace,
        failure,
        retryInMs,
      });
    },
    followFailed(error: unknown) {
      log.error('following pods failed and starts again', { error });
    },
  };
}
