import type { PodToAdopt } from '@paddock/db/workers/adopt-workers';
import type { UnstartableWorker } from '@paddock/db/workers/stuck-pods';
import type { PodTransition, VanishedWorker } from '@paddock/db/workers/worker-pods';
import { levelOf } from '@paddock/kube/cluster-events';
import type { KubeFailure } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { LATENCY_BUCKETS, MOST_NAMES, type SharedCounters } from '../shared-counters.ts';

/** What happens to pods, as the cluster says it. */
export function followingEvents(log: Logger, metrics: Metrics, { ended, clusterFailed }: SharedCounters) {
  const unexplained = metrics.counter('paddock_workers_unexplained_total', 'Workers that ran a job of which nothing was heard, by pool', [
    'pool',
  ]);
  const stuck = metrics.counter('paddock_pods_stuck_total', 'Pods that did not start or did not go, by pool and what kept them', [
    'pool',
    'reason',
  ]);
  const vanished = metrics.counter('paddock_pods_vanished_total', 'Pods that went while their workers lived, by pool', ['pool']);
  const listsDoubted = metrics.counter('paddock_pod_lists_doubted_total', 'Lists of pods that lacked most of those known, by namespace', [
    'namespace',
  ]);
  const adopted = metrics.counter('paddock_pods_adopted_total', 'Pods of ours that had no row and were given one, by pool', ['pool']);
  const notRecorded = metrics.counter(
    'paddock_pods_not_recorded_total',
    'States of pods that their workers’ rows cannot hold, by namespace',
    ['namespace'],
  );
  const withoutRow = metrics.gauge('paddock_pods_without_row', 'Pods of ours that no row knows and that cannot be adopted, by namespace', [
    'namespace',
  ]);
  const toRunning = metrics.histogram(
    'paddock_worker_to_running_seconds',
    'From a worker’s reservation to its pod running',
    LATENCY_BUCKETS,
    ['pool'],
  );

  return {
    podChanged(transition: PodTransition) {
      const { podName, pool, was, status, startSeconds } = transition;
      if (transition.newlyStuck !== null) this.podStuck({ podName, pool, reason: transition.newlyStuck });
      if (was === status) return;
      if (was === 'pending' && startSeconds !== null) toRunning.observe({ pool }, Math.max(0, startSeconds));
      if (status === 'completed' || status === 'failed') ended({ pool, status, reason: transition.failureReason ?? '' });
      if (transition.unexplained) unexplained.inc({ pool });
      log.info('worker changed', { podName, pool, was, status, reason: transition.failureReason, unexplained: transition.unexplained });
    },
    podStuck({ podName, pool, reason }: { podName: string; pool: string; reason: string }) {
      stuck.inc({ pool, reason });
      log.warn('the pod of a worker does not start or does not go', { podName, pool, reason });
    },
    unstartableStopped(workers: readonly UnstartableWorker[]) {
      for (const [pool, ofPool] of Map.groupBy(workers, (worker) => worker.pool)) {
        const podNames = ofPool.slice(0, MOST_NAMES).map(({ podName }) => podName);
        const reasons = [...new Set(ofPool.map(({ reason }) => reason))];
        log.warn('pods cannot start: their workers are stopped; see failure_info in their rows, and the pool’s image and template', {
          pool,
          reasons,
          count: ofPool.length,
          podNames,
        });
      }
    },
    podsVanished(workers: readonly VanishedWorker[]) {
      if (workers.length === 0) return;
      for (const { pool } of workers) vanished.inc({ pool });
      const podNames = workers.slice(0, MOST_NAMES).map(({ podName }) => podName);
      log.warn('pods of workers are gone: they are no supply any more', { count: workers.length, podNames });
    },
    /**
     * Told with each complete list: how many pods are known, and of those that it lacks how many
     * are doubted and how many are gone.
     */
    absenceJudged(namespace: string, { known, before, doubted, gone }: { known: number; before: number; doubted: number; gone: number }) {
      if (doubted > 0) {
        listsDoubted.inc({ namespace });
        log.warn('a list lacks most of the pods that are known: none counts as gone before another list says so', {
          namespace,
          known,
          doubted,
        });
      } else if (before > gone) log.info('pods that a list lacked are there after all', { namespace, known, before, gone });
    },
    podAdopted({ podName, pool, namespace }: PodToAdopt) {
      adopted.inc({ pool });
      log.warn('a pod of ours had no row and was adopted', { podName, pool, namespace });
    },
    podNotRecorded({ name, namespace }: ObservedPod, error: unknown) {
      notRecorded.inc({ namespace });
      log.error('what a pod says cannot be stored: its row stays as it is; look at the pod’s status, and delete the pod if it has ended', {
        podName: name,
        namespace,
        error,
      });
    },
    /**
     * Pods are followed by another replica from now on, or by none: what is said of them here would
     * stay for ever.
     */
    followingEnded() {
      withoutRow.reset();
    },
    /** Told with each complete list. */
    podsWithoutRow(namespace: string, podNames: readonly string[]) {
      withoutRow.set({ namespace }, podNames.length);
      if (podNames.length === 0) return;
      const shown = podNames.slice(0, MOST_NAMES);
      log.warn('pods carry our labels but cannot be adopted; they are left alone: remove the labels or the pods', {
        namespace,
        count: podNames.length,
        podNames: shown,
      });
    },
    watchInterrupted(namespace: string, failure: KubeFailure, retryInMs: number) {
      clusterFailed(failure.kind);
      log[levelOf(failure)]('following pods was interrupted', { namespace, failure, retryInMs });
    },
    followFailed(error: unknown) {
      log.error('following pods failed; it begins again', { error });
    },
  };
}
