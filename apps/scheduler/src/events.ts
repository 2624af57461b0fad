import type { BegunWait } from '@paddock/db/breakers/waits';
import type { PodToAdopt } from '@paddock/db/workers/adopt-workers';
import type { Probed } from '@paddock/db/breakers/probes';
import type { WarmScope } from '@paddock/db/matching/warm-workers';
import type { UnstartableWorker } from '@paddock/db/workers/stuck-pods';
import type { VanishedWorker, PodTransition } from '@paddock/db/workers/worker-pods';
import type { WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHubFailure } from '@paddock/github/errors';
import { levelOf } from '@paddock/kube/cluster-events';
import type { KubeFailure } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import type { FailReason } from './provisioning/fail-worker.ts';
import type { Matched } from './matching/match.ts';

/** What happens in the scheduler: each function moves the metric and writes the log line of one event. */
export type SchedulerEvents = ReturnType<typeof createEvents>;

/** In one line of the log. */
const MOST_NAMES = 20;

const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

export function createEvents(log: Logger, metrics: Metrics) {
  const reserved = metrics.counter('paddock_workers_reserved_total', 'Workers reserved for waiting jobs, by pool', ['pool']);
  const retiring = metrics.counter(
    'paddock_workers_retired_total',
    'Registered workers whose stop the matcher asked for: no job wanted them, or they were too old',
  );
  const unservedKeys = metrics.counter('paddock_keys_unserved_total', 'Pauses for keys to whose idle workers GitHub gave no job, by pool', [
    'pool',
  ]);
  const registered = metrics.counter('paddock_workers_registered_total', 'Runners registered at GitHub, by pool', ['pool']);
  const created = metrics.counter('paddock_pods_created_total', 'Runner pods created, by pool', ['pool']);
  const ended = metrics.counter('paddock_workers_ended_total', 'Workers that ended, by pool, status and why they failed', [
    'pool',
    'status',
    'reason',
  ]);
  const failed = metrics.counter('paddock_workers_not_started_total', 'Workers that ended without a pod, by pool and reason', [
    'pool',
    'reason',
  ]);
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
  const kept = metrics.counter(
    'paddock_workers_kept_total',
    'Workers that were to be stopped until something showed that they work, by pool',
    ['pool'],
  );
  const toPod = metrics.histogram('paddock_job_to_pod_seconds', 'From the job becoming known to its pod’s creation', LATENCY_BUCKETS, [
    'pool',
  ]);
  const toRunning = metrics.histogram(
    'paddock_worker_to_running_seconds',
    'From a worker’s reservation to its pod running',
    LATENCY_BUCKETS,
    ['pool'],
  );
  let unknownWarmTold = '';
  const matchSeconds = metrics.histogram('paddock_match_duration_seconds', 'How long passes of the matcher took', LATENCY_BUCKETS);
  const githubFailures = metrics.counter(
    'paddock_github_failures_total',
    'Calls of GitHub that failed while workers were made or stopped, by kind',
    ['kind'],
  );
  const clusterFailures = metrics.counter('paddock_cluster_failures_total', 'Calls of the cluster that failed, by kind', ['kind']);
  const probes = metrics.counter(
    'paddock_probes_total',
    'Calls that only asked whether GitHub or the cluster answers again, by what was asked and whether it did',
    ['subject', 'answered'],
  );
  const cuts = metrics.counter(
    'paddock_database_connections_cut_total',
    'Times that connections to PostgreSQL were given up because it had gone silent',
  );

  const warnedOf = new Map<string, Set<string>>();

  return {
    matched({ reserved: made, ended: given, retired, takenBack, unserved, pools }: Matched, seconds: number) {
      matchSeconds.observe(seconds);
      for (const pool of pools) reserved.inc({ pool });
      retiring.inc(retired);
      if (made + given + retired + takenBack > 0) log.info('demand matched', { reserved: made, ended: given, retired, takenBack });
      for (const { pool, entityName, rounds, pausedUntil } of unserved) {
        unservedKeys.inc({ pool });
        log.warn('GitHub gives idle runners no job although one waits: no more are made for a while; see the runner group and its access', {
          pool,
          entityName,
          rounds,
          pausedUntil,
        });
      }
    },
    /** Told after each pass, logged when it is not as it was. */
    warmScopesUnknown(scopes: readonly WarmScope[]) {
      const said = scopes.map(({ pool, scope }) => `${pool}: ${scope}`);
      if (said.join() === unknownWarmTold) return;
      unknownWarmTold = said.join();
      if (said.length === 0) {
        log.info('all scopes that are to be kept warm are known');
        return;
      }
      log.warn(
        'no warm workers are made for these scopes: install the App on the account or unsuspend it, name what the pool’s runners register at, or wait for the repository’s first job',
        { count: said.length, scopes: said.slice(0, MOST_NAMES) },
      );
    },
    matchFailed(error: unknown) {
      log.error('matching failed; the next pass tries again', { error });
    },
    reprovisioned(podNames: readonly string[]) {
      log.warn('workers without anybody at work on them are provisioned again', { podNames });
    },
    registered({ podName, pool, madeForJobId, deliveryGuid }: WorkerToProvision) {
      registered.inc({ pool });
      log.info('runner registered', { podName, pool, jobId: madeForJobId, deliveryGuid });
    },
    podCreated({ podName, pool, madeForJobId, deliveryGuid }: WorkerToProvision, seconds: number | undefined) {
      created.inc({ pool });
      if (seconds !== undefined) toPod.observe({ pool }, seconds);
      log.info('pod created', { podName, pool, jobId: madeForJobId, deliveryGuid, secondsSinceJob: seconds });
    },
    /** All pods of a pool are made alike, so each warning is logged once; policies may put a pod's name into theirs. */
    podWarned({ podName, pool }: WorkerToProvision, warnings: readonly string[]) {
      const told = warnedOf.get(pool) ?? new Set();
      const unheard = warnings.filter((warning) => !told.has(warning)).slice(0, Math.max(0, MOST_NAMES - told.size));
      if (unheard.length === 0) return;
      warnedOf.set(pool, new Set([...told, ...unheard]));
      log.warn('the cluster made a pod and warns of it: see the pool’s template', { podName, pool, warnings: unheard });
    },
    failed({ podName, pool, deliveryGuid }: WorkerToProvision, reason: FailReason) {
      failed.inc({ pool, reason });
      log.warn('worker ended without a pod', { podName, pool, reason, deliveryGuid });
    },
    githubAsksToWait({ subject: { type, id }, ms, message }: BegunWait) {
      githubFailures.inc({ kind: 'rate_limited' });
      log.warn('GitHub asks to be left alone: it is not called until then', { [type]: id, seconds: Math.ceil(ms / 1_000), message });
    },
    githubFailed({ podName, deliveryGuid }: WorkerToProvision, failure: GitHubFailure) {
      if (failure.kind === 'rate_limited') return; // told where the wait began
      githubFailures.inc({ kind: failure.kind });
      log.warn('GitHub did not register a runner', { podName, deliveryGuid, failure });
    },
    runnerGroupRefused(org: string, name: string, failure: GitHubFailure) {
      log.warn('GitHub lets us have no such runner group: pools that are not held to it use the default one', { org, name, failure });
    },
    runnerGroupOpen({ isHeld, ...open }: { pool: string; org: string; excess: string; isHeld: boolean }) {
      if (isHeld)
        log.error('no runner of the pool is registered at the organisation: its runner group lets in more than the pool serves', open);
      else log.warn('a runner group lets in more than its pool serves', open);
    },
    clusterFailed({ podName, deliveryGuid }: WorkerToProvision, failure: KubeFailure) {
      clusterFailures.inc({ kind: failure.kind });
      log[levelOf(failure)]('the cluster did not start a worker', { podName, deliveryGuid, failure });
    },
    podChanged(transition: PodTransition) {
      const { podName, pool, was, status, startSeconds } = transition;
      if (transition.newlyStuck !== null) this.podStuck({ podName, pool, reason: transition.newlyStuck });
      if (was === status) return;
      if (was === 'pending' && startSeconds !== null) toRunning.observe({ pool }, Math.max(0, startSeconds));
      if (status === 'completed' || status === 'failed') ended.inc({ pool, status, reason: transition.failureReason ?? '' });
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
    /** Told with each complete list: how many pods are known, and of those that it lacks how many are doubted and how many are gone. */
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
    /** Pods are followed by another replica from now on, or by none: what is said of them here would stay for ever. */
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
    /** It was to be stopped, and is not any more. */
    workerKept({ podName, pool, stopReason, deliveryGuid }: WorkerToStop, why: string) {
      kept.inc({ pool });
      log.info('worker is not stopped', { podName, pool, reason: stopReason, why, deliveryGuid });
    },
    runnerDeregistered({ podName, pool, stopReason, deliveryGuid }: WorkerToStop) {
      log.info('idle runner removed from GitHub', { podName, pool, reason: stopReason, deliveryGuid });
    },
    /** Why GitHub does not see it, as far as its pod tells. */
    runnerUnseen({ podName, pool, stopReason, deliveryGuid }: WorkerToStop, why: string) {
      log.warn('GitHub does not see the runner of a pod', { podName, pool, reason: stopReason, why, deliveryGuid });
    },
    stoppedPodDeleted({ podName, pool, stopReason, deliveryGuid }: WorkerToStop) {
      log.info('pod of a stopped worker deleted', { podName, pool, reason: stopReason, deliveryGuid });
    },
    /** Its pod is gone, and GitHub does not know its runner. */
    workerStopped({ podName, pool, stopReason, deliveryGuid }: WorkerToStop) {
      ended.inc({ pool, status: 'failed', reason: stopReason ?? '' });
      log.info('worker stopped', { podName, pool, reason: stopReason, deliveryGuid });
    },
    stopFailed({ podName, deliveryGuid }: WorkerToStop, failure: GitHubFailure | KubeFailure) {
      if (failure.kind === 'rate_limited') return;
      const isGitHubs = 'operation' in failure;
      (isGitHubs ? githubFailures : clusterFailures).inc({ kind: failure.kind });
      log[isGitHubs ? 'warn' : levelOf(failure)]('a worker could not be stopped yet', { podName, deliveryGuid, failure });
    },
    watchInterrupted(namespace: string, failure: KubeFailure, retryInMs: number) {
      clusterFailures.inc({ kind: failure.kind });
      log[levelOf(failure)]('following pods was interrupted', { namespace, failure, retryInMs });
    },
    followFailed(error: unknown) {
      log.error('following pods failed; it begins again', { error });
    },
    probed({ type }: Probed, { answered, isFirst }: { answered: boolean; isFirst: boolean }) {
      probes.inc({ subject: type, answered: String(answered) });
      if (isFirst) log.info('a probe was answered: one worker is tried, and the others follow if it can be made', { subject: type });
    },
    probingFailed(error: unknown) {
      log.error('probing failed; it is tried again in a second', { error });
    },
    listenFailed(error: unknown) {
      log.warn('listening for new demand was interrupted', { error });
    },
    notReady(reason: string) {
      log.warn('not ready', { reason });
    },
    connectionCut({ message: reason }: Error) {
      cuts.inc();
      log.warn('connections to PostgreSQL given up', { reason });
    },
  };
}
