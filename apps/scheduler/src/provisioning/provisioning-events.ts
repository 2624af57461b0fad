import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHubFailure } from '@paddock/github/errors';
import { levelOf } from '@paddock/kube/cluster-events';
import type { KubeFailure } from '@paddock/kube/errors';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { LATENCY_BUCKETS, MOST_NAMES, type SharedCounters } from '../shared-counters.ts';
import type { FailReason } from './fail-worker.ts';

/** What happens where workers are made. */
export function provisioningEvents(log: Logger, metrics: Metrics, { githubFailed, clusterFailed }: SharedCounters) {
  const registered = metrics.counter('paddock_workers_registered_total', 'Runners registered at GitHub, by pool', ['pool']);
  const created = metrics.counter('paddock_pods_created_total', 'Runner pods created, by pool', ['pool']);
  const failed = metrics.counter('paddock_workers_not_started_total', 'Workers that ended without a pod, by pool and reason', [
    'pool',
    'reason',
  ]);
  const toPod = metrics.histogram('paddock_job_to_pod_seconds', 'From the job becoming known to its pod’s creation', LATENCY_BUCKETS, [
    'pool',
  ]);
  const warnedOf = new Map<string, Set<string>>();

  return {
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
    /**
     * All pods of a pool are made alike, so each warning is logged once; policies may put a pod's
     * name into theirs.
     */
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
    githubFailed({ podName, deliveryGuid }: WorkerToProvision, failure: GitHubFailure) {
      if (failure.kind === 'rate_limited') return; // told where the wait began
      githubFailed(failure.kind);
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
      clusterFailed(failure.kind);
      log[levelOf(failure)]('the cluster did not start a worker', { podName, deliveryGuid, failure });
    },
  };
}
