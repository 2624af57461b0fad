import {
  type BreakerSubject,
  clusterBreaker,
  poolBreaker,
} from '@paddock/db/breakers/breaker-subjects';
import { AWAY, POD_REFUSED } from '@paddock/db/breakers/failure-classes';
import { type Hold, noteFailure } from '@paddock/db/breakers/note-failure';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { isAway, KubeError, type KubeFailure } from '@paddock/kube/errors';
import { type Outcome, snooze } from '@paddock/queue/outcome';
import { isClusterAway } from '../is-cluster-away.ts';
import type { Provisioning } from './provisioning.ts';
import { waitForReturn } from './wait-for-return.ts';

const RETRY_MS = 30_000;
/**
 * An overloaded API server asks for a second; hundreds of workers that retry each second would keep
 * it overloaded.
 */
const SOONEST_MS = 5_000;

/**
 * Decides what a failure of the cluster means for the worker's task; undefined: an ordinary
 * failure, which the queue retries. A worker whose pod is refused (quota, Pod Security, policies, a
 * bad template, a failing webhook) waits, with the cluster's words as the reason. It keeps its
 * registration, which serves once the cause is gone.
 */
export async function afterClusterFailure(
  parts: Provisioning,
  worker: WorkerToProvision,
  error: unknown,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  if (!(error instanceof KubeError)) return undefined;
  const { failure } = error;
  const { isOfPool, hold } = await noteClusterFailure(parts, worker, failure, signal);
  if (isAway(failure) && !isOfPool) return waitForReturn(worker, hold, failure);
  return failure.kind === 'unknown'
    ? undefined
    : snooze(Math.max(failure.retryAfterMs ?? RETRY_MS, SOONEST_MS), failure.message);
}

/**
 * Counts the failure of a creation against the pool, the entity or the cluster. Returns the hold of
 * its breaker, if that is open.
 */
export async function noteClusterFailure(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: KubeFailure,
  signal: AbortSignal,
): Promise<{ isOfPool: boolean; hold: Hold | undefined }> {
  const fault = await faultOf(parts, failure, worker, signal);
  parts.events.clusterFailed(worker, failure);
  const hold = await noteFailure(parts, { ...fault, message: failure.message });
  return { isOfPool: fault.subject.type === 'pool', hold };
}

/** Counts an unanswered read against the cluster. Reads pass no webhook, so no pool is at fault. */
export async function noteUnanswered(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: KubeFailure,
): Promise<Hold | undefined> {
  parts.events.clusterFailed(worker, failure);
  return noteFailure(parts, {
    subject: clusterBreaker(worker.cluster),
    failureClass: AWAY,
    message: failure.message,
  });
}

/**
 * The pool is at fault for a missing namespace (404 of a creation) and for a webhook that fails, or
 * is silent while the API server answers. The cluster is at fault for failures that are not about
 * this pod.
 */
async function faultOf(
  { cluster }: Provisioning,
  failure: KubeFailure,
  worker: WorkerToProvision,
  signal: AbortSignal,
): Promise<{ subject: BreakerSubject; failureClass: string }> {
  const ofPool = { subject: poolBreaker(worker.pool), failureClass: POD_REFUSED };
  const ofCluster = (failureClass: string) => ({
    subject: clusterBreaker(worker.cluster),
    failureClass,
  });
  switch (failure.kind) {
    case 'invalid':
    case 'forbidden':
    case 'not_found':
      return ofPool;
    case 'too_many_requests':
      return ofCluster('busy');
    case 'unauthorized':
      return ofCluster('unauthorized');
    case 'unavailable':
      return isAway(failure) ? ofCluster(AWAY) : ofPool;
    case 'timeout':
      return (await isClusterAway(cluster, failure, signal)) ? ofCluster(AWAY) : ofPool;
    case 'network':
    case 'exists':
    case 'conflict':
    case 'gone':
    case 'unknown':
      return ofCluster(AWAY);
    default:
      return failure.kind satisfies never;
  }
}
