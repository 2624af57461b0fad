import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHubFailure } from '@paddock/github/errors';
import { type KubeFailure, levelOf } from '@paddock/kube/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { LATENCY_BUCKETS, MOST_NAMES, type SharedCounters } from '../shared-counters.ts';
import type { FailReason } from './fail-worker.ts';

/** The events of workers that are being made. */
export function provisioningEvents(
  log: Logger,
  metrics: Metrics,
  { githubFailed, clusterFailed }: SharedCounters,
) {
  const registered = metrics.counter(
    'paddock_workers_registered_total',
    'Runners registered at GitHub, by pool',
    ['pool'],
  );
  const created = metrics.counter('paddock_pods_created_total', 'Runner pods created, by pool', [
    'pool',
  ]);
  const failed = metrics.counter(
    'paddock_workers_not_started_total',
    'Workers that ended without a pod, by pool and reason',
    ['pool', 'reason'],
  );
  const toPod = metrics.histogram(
    'paddock_job_to_pod_seconds',
    'From the job becoming known to its pod’s creation',
    LATENCY_BUCKETS,
    ['pool'],
  );
  const warnedOf = new Map<string, Set<string>>();

  return {
    reprovisioned(podNames: readonly string[]) {
      log.warn('provisioning workers again whose tasks were lost', { podNames });
    },
    registered({ podName, pool, madeForJobId, deliveryGuid }: WorkerToProvision) {
      registered.inc({ pool });
      log.info('runner registered', { podName, pool, jobId: madeForJobId, deliveryGuid });
    },
    podCreated(
      { podName, pool, madeForJobId, deliveryGuid }: WorkerToProvision,
      seconds: number | undefined,
    ) {
      created.inc({ pool });
      if (seconds !== undefined) toPod.observe({ pool }, seconds);
      log.info('pod created', {
        podName,
        pool,
        jobId: madeForJobId,
        deliveryGuid,
        secondsSinceJob: seconds,
      });
    },
    /**
     * Logs each warning once per pool, since all its pods are alike. Bounded, because policies may
     * put a pod's name into theirs.
     */
    podWarned({ podName, pool }: WorkerToProvision, warnings: readonly string[]) {
      const logged = warnedOf.get(pool) ?? new Set();
      const fresh = warnings
        .filter((warning) => !logged.has(warning))
        .slice(0, Math.max(0, MOST_NAMES - logged.size));
      if (fresh.length === 0) return;
      warnedOf.set(pool, new Set([...logged, ...fresh]));
      log.warn('the cluster created a pod with warnings: check the pool’s template', {
        podName,
        pool,
        warnings: fresh,
      });
    },
    failed({ podName, pool, deliveryGuid }: WorkerToProvision, reason: FailReason) {
      failed.inc({ pool, reason });
      log.warn('worker ended without a pod', { podName, pool, reason, deliveryGuid });
    },
    githubFailed({ podName, deliveryGuid }: WorkerToProvision, failure: GitHubFailure) {
      if (failure.kind === 'rate_limited') return; // `githubAsksToWait` has logged it
      githubFailed(failure.kind);
      log.warn('GitHub did not register a runner', { podName, deliveryGuid, failure });
    },
    runnerGroupRefused(org: string, name: string, failure: GitHubFailure) {
      log.warn(
        'GitHub refused to make a runner group: pools that do not require it use the default group',
        { org, name, failure },
      );
    },
    runnerGroupOpen({
      isHeld,
      ...open
    }: {
      pool: string;
      org: string;
      excess: string;
      isHeld: boolean;
    }) {
      if (isHeld)
        log.error(
          'stopped registering runners of a pool at an organisation: its runner group lets in more than the pool serves; narrow one of them',
          open,
        );
      else log.warn('a runner group lets in more than its pool serves', open);
    },
    clusterFailed({ podName, deliveryGuid }: WorkerToProvision, failure: KubeFailure) {
      clusterFailed(failure.kind);
      log[levelOf(failure)]('the cluster did not start a worker', {
        podName,
        deliveryGuid,
        failure,
      });
    },
  };
}
