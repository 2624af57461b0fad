import { githubAsksToWait } from '@paddock/db/entities/waits';
import type { WarmScope } from '@paddock/db/matching/reserve-workers';
import type { PodToAdopt } from '@paddock/db/workers/registrations';
import type { UnservedKey } from '@paddock/db/workers/failing-keys';
import type { WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { UnstartableWorker } from '@paddock/db/workers/stuck-pods';
import type { PodTransition, VanishedWorker } from '@paddock/db/workers/worker-pods';
import type { WorkerOfTask } from '@paddock/domain/tasks/worker-tasks';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHubFailure } from '@paddock/github/errors';
import { type KubeFailure, levelOf } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { type EventLog, line, listed, tellEvents } from '@paddock/runtime/events';
import type { Metrics } from '@paddock/runtime/metrics';
import type { Matched } from './matching/match.ts';

/** Why a worker ended before it had a pod: `workers.stop_reason`. */
export type FailReason =
  | 'registration_interrupted'
  | 'pool_unknown'
  | 'pool_closed'
  | 'runner_group_open'
  | 'provisioning_failed';

/** In seconds. */
const LATENCY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** Policies may put a pod's name into their warnings, so each can be a new one. */
const MOST_WARNINGS = 100;

const ofJob = ({ podName, pool, madeForJobId: jobId, deliveryGuid }: WorkerToProvision) => ({
  podName,
  pool,
  jobId,
  deliveryGuid,
});

const ofStop = ({ podName, pool, stopReason: reason, deliveryGuid }: WorkerToStop) => ({
  podName,
  pool,
  reason,
  deliveryGuid,
});

/** A complete list of a namespace: how many pods are known, were missing before, and are now. */
type JudgedList = Readonly<Record<'known' | 'before' | 'unconfirmed' | 'gone', number>> & {
  readonly namespace: string;
};

const podChanged = (pod: PodTransition) => {
  const { podName, pool, was, status, failureReason: reason, unexplained, deliveryGuid } = pod;
  const what = { podName, pool, was, status, reason, unexplained, deliveryGuid };
  return line.info('worker changed', what);
};

const TABLE = {
  githubAsksToWait,

  // The pools of the configuration file.
  fileRefused: (problems: readonly string[]) =>
    line.error(
      'configuration file refused: the pools loaded before stay in force until you mend it',
      { problems },
    ),
  fileAccepted: () => line.info('configuration file read'),
  poolsInForce: (version: number) => line.info('pools document in force', { version }),
  poolsNotLoaded: (error: unknown) =>
    line.warn('the pools could not be stored or read; the scheduler tries again', { error }),
  jobsReconsidered: (version: number, count: number) =>
    line.info('a change of the pools gave jobs another pool, or their first', { version, count }),

  unfitStopped: (workers: readonly WorkerOfTask[]) =>
    line.info('stopping workers without a job that do not fit their changed pool', listed(workers)),

  // Matching waiting jobs with workers.
  demandMatched: ({ reserved, ended, stopped, takenBack }: Matched) =>
    line.info('demand matched', {
      count: reserved.length + ended.length + stopped.length + takenBack.length,
      reserved: reserved.length,
      ended: ended.length,
      stopped: stopped.length,
      takenBack: takenBack.length,
    }),
  keyUnserved: ({ pool, entityName, pauses, pausedUntil }: UnservedKey) =>
    line.warn(
      'GitHub gives idle runners no job although one waits: no more are made for a while; see the runner group and its access',
      { pool, entityName, pauses, pausedUntil },
    ),
  warmScopesUnknown: (scopes: readonly string[]) =>
    line.warn(
      'made no warm workers for these scopes: install the App on the entity or unsuspend it, name a scope where the pool’s runners register, or wait for the repository’s first job',
      listed(scopes),
    ),
  matchFailed: (error: unknown) =>
    line.error('matching failed; the next pass tries again', { error }),
  reprovisioned: (podNames: readonly string[]) =>
    line.warn('provisioning workers again whose tasks were lost', listed(podNames)),

  // Making workers.
  runnerRegistered: (worker: WorkerToProvision) => line.info('runner registered', ofJob(worker)),
  podCreated: (worker: WorkerToProvision, secondsSinceJob: number | undefined) =>
    line.info('pod created', { ...ofJob(worker), secondsSinceJob }),
  podWarned: (worker: WorkerToProvision, warnings: readonly string[]) =>
    line.warn('the cluster created a pod with warnings: check the pool’s template', {
      ...ofJob(worker),
      warnings,
    }),
  workerNotStarted: (worker: WorkerToProvision, reason: FailReason) =>
    line.warn('worker ended without a pod', { ...ofJob(worker), reason }),
  /** `githubAsksToWait` has logged a rate limit. */
  runnerNotRegistered: (worker: WorkerToProvision, failure: GitHubFailure) =>
    failure.kind === 'rate_limited'
      ? undefined
      : line.warn('GitHub did not register a runner', { ...ofJob(worker), failure }),
  runnerGroupRefused: (org: string, name: string, failure: GitHubFailure) =>
    line.warn(
      'GitHub refused to make a runner group: pools that do not require it use the default group',
      { org, name, failure },
    ),
  runnerGroupOpen: (open: { pool: string; org: string; excess: string }) =>
    line.warn('a runner group lets in more than its pool serves', open),
  runnerGroupHeld: (open: { pool: string; org: string; excess: string }) =>
    line.error(
      'stopped registering runners of a pool at an organisation: its runner group lets in more than the pool serves; narrow one of them',
      open,
    ),
  podNotCreated: (worker: WorkerToProvision, failure: KubeFailure) =>
    line[levelOf(failure)]('the cluster did not start a worker', { ...ofJob(worker), failure }),

  // Pods, as the cluster reports them.
  podChanged,
  /** The pod may have run a job that no delivery reported. */
  podUnexplained: podChanged,
  podStuck: (pod: Pick<PodTransition, 'podName' | 'pool' | 'deliveryGuid'> & { reason: string }) =>
    line.warn(
      'a pod does not start or does not go: see failure_info in the row of its worker',
      pod,
    ),
  jobNotNoted: (of: { podName: string; namespace: string; failure: KubeFailure }) =>
    line.warn(
      'the cluster did not let a pod say which job it runs: check the scheduler’s right to patch pods',
      of,
    ),
  unstartableStopped: (workers: readonly UnstartableWorker[]) =>
    line.warn(
      'stopping workers whose pods cannot start: check the pool’s image and template; failure_info in their rows has the reason',
      listed(workers),
    ),
  podsVanished: (workers: readonly VanishedWorker[]) =>
    line.warn('pods vanished from the cluster: their workers are being stopped', listed(workers)),
  podListUnconfirmed: (list: JudgedList) =>
    line.warn(
      'a list lacks most known pods: none counts as gone until a second list confirms it',
      list,
    ),
  podsThereAgain: (list: JudgedList) =>
    line.info('pods missing from the last list are there again', list),
  podAdopted: ({ podName, pool, namespace }: PodToAdopt) =>
    line.warn('adopted a pod that had no row', { podName, pool, namespace }),
  podNotRecorded: ({ name: podName, namespace }: ObservedPod, error: unknown) =>
    line.error(
      'PostgreSQL cannot store the state of a pod, so its row stays: look at the pod’s status, and delete the pod if it has ended',
      { podName, namespace, error },
    ),
  podsWithoutRow: (namespace: string, podNames: readonly string[]) =>
    line.warn('pods carry Paddock’s labels but cannot be adopted: remove the labels or the pods', {
      namespace,
      ...listed(podNames),
    }),
  /** For each namespace and kind of failure once a minute at most. */
  watchInterrupted: (watch: {
    namespace: string;
    failure: KubeFailure;
    retryInMs: number;
    leftOut: number;
  }) => line[levelOf(watch.failure)]('the watch of pods was interrupted and is retried', watch),
  followFailed: (error: unknown) => line.error('following pods failed and starts again', { error }),

  // Stopping workers.
  workerKept: (worker: WorkerToStop, why: string) =>
    line.info('called off the stop of a worker', { ...ofStop(worker), why }),
  runnerDeregistered: (worker: WorkerToStop) =>
    line.info('deregistered an idle runner at GitHub', ofStop(worker)),
  /** `why`: the cause that the pod shows. */
  runnerUnseen: (worker: WorkerToStop, why: string) =>
    line.warn('GitHub does not see the runner of a pod', { ...ofStop(worker), why }),
  stoppedPodDeleted: (worker: WorkerToStop) =>
    line.info('deleted the pod of a stopped worker', ofStop(worker)),
  /** Its pod is gone, and GitHub does not know its runner. */
  workerStopped: (worker: WorkerToStop) => line.info('worker stopped', ofStop(worker)),
  stopFailed: (worker: WorkerToStop, failure: GitHubFailure | KubeFailure) =>
    failure.kind === 'rate_limited'
      ? undefined
      : line['operation' in failure ? 'warn' : levelOf(failure)](
          'a worker could not be stopped yet; the stop is retried',
          { ...ofStop(worker), failure },
        ),
};

/** The scheduler's events. Each function writes the log line of one event and moves its metrics. */
export type SchedulerEvents = ReturnType<typeof createEvents>;

export function createEvents(log: EventLog, metrics: Metrics) {
  const events = tellEvents(TABLE, { log, metrics });
  const fileIsRefused = metrics.gauge(
    'paddock_pools_file_refused',
    '1 while the configuration file is refused',
  );
  const matchSeconds = metrics.histogram(
    'paddock_match_duration_seconds',
    'How long passes of the matcher took',
    LATENCY_BUCKETS,
  );
  const secondsByPool = (name: string, help: string) =>
    metrics.histogram(name, help, LATENCY_BUCKETS, ['pool']);
  const jobToPod = secondsByPool(
    'paddock_job_to_pod_seconds',
    'From the job becoming known to its pod’s creation',
  );
  const toRunning = secondsByPool(
    'paddock_worker_to_running_seconds',
    'From a worker’s reservation to its pod running',
  );
  const ended = metrics.counter(
    'paddock_workers_ended_total',
    'Workers that ended, by pool, status and why they failed',
    ['pool', 'status', 'reason'],
  );
  const withoutRow = metrics.gauge(
    'paddock_pods_without_row',
    'Pods with Paddock’s labels and no row that cannot be adopted, by namespace',
    ['namespace'],
  );
  const unknownScopes = metrics.gauge(
    'paddock_warm_scopes_unknown',
    'Configured scopes whose warm workers cannot be made, because Paddock knows no installation or repository there',
  );
  const warned = new Set<string>();
  let namesTold = '';

  return {
    ...events,
    fileRefused(problems: readonly string[]) {
      fileIsRefused.set(1);
      events.fileRefused(problems);
    },
    fileAccepted() {
      fileIsRefused.set(0);
      events.fileAccepted();
    },
    matched(matched: Matched, seconds: number) {
      matchSeconds.observe(seconds);
      events.demandMatched(matched);
      for (const key of matched.unserved) events.keyUnserved(key);
    },
    /** Called after each pass; logs only a change. */
    warmScopesUnknown(scopes: readonly WarmScope[]) {
      const names = scopes.map(({ pool, scope }) => `${pool}: ${scope}`);
      unknownScopes.set(names.length);
      if (names.join() === namesTold) return;
      namesTold = names.join();
      events.warmScopesUnknown(names);
    },
    podCreated(worker: WorkerToProvision, secondsSinceJob: number | undefined) {
      if (secondsSinceJob !== undefined) jobToPod.observe({ pool: worker.pool }, secondsSinceJob);
      events.podCreated(worker, secondsSinceJob);
    },
    /** Logs the same warnings of a pool once, since all its pods are alike. */
    podWarned(worker: WorkerToProvision, warnings: readonly string[]) {
      const words = `${worker.pool}: ${warnings.join('; ')}`;
      if (warnings.length === 0 || warned.size >= MOST_WARNINGS || warned.has(words)) return;
      warned.add(words);
      events.podWarned(worker, warnings);
    },
    workerNotStarted(worker: WorkerToProvision, reason: FailReason) {
      ended.inc({ pool: worker.pool, status: 'failed', reason });
      events.workerNotStarted(worker, reason);
    },
    podChanged(transition: PodTransition) {
      const { podName, pool, was, status, newlyStuck, startSeconds, failureReason } = transition;
      const { deliveryGuid } = transition;
      if (newlyStuck !== null) events.podStuck({ podName, pool, deliveryGuid, reason: newlyStuck });
      if (was === status) return;
      if (was === 'pending' && startSeconds !== null)
        toRunning.observe({ pool }, Math.max(0, startSeconds));
      if (status === 'completed' || status === 'failed')
        ended.inc({ pool, status, reason: failureReason ?? '' });
      events[transition.unexplained ? 'podUnexplained' : 'podChanged'](transition);
    },
    absenceJudged(list: JudgedList) {
      if (list.unconfirmed > 0) events.podListUnconfirmed(list);
      else if (list.before > list.gone) events.podsThereAgain(list);
    },
    /** For each complete list. */
    podsWithoutRow(namespace: string, podNames: readonly string[]) {
      withoutRow.set({ namespace }, podNames.length);
      events.podsWithoutRow(namespace, podNames);
    },
    /** Another replica may follow the pods now, so this one must not keep showing its last value. */
    followingEnded: () => withoutRow.reset(),
    workerStopped(worker: WorkerToStop) {
      ended.inc({ pool: worker.pool, status: 'failed', reason: worker.stopReason ?? '' });
      events.workerStopped(worker);
    },
  };
}
