import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { CLUSTER_ERROR, POD_REFUSED } from '@paddock/domain/matching/failure-classes';
import { KubeError, type KubeFailure } from '@paddock/kube/errors';
import { type Outcome, snooze } from '@paddock/queue/kind';
import { ifClusterAway } from '../service-away.ts';
import { soonMs } from '../task-run.ts';
import type { Provisioning } from './provisioning.ts';

/** A quota, a policy or a template has to change, most often by a person. */
const REFUSED_MS = 30_000;

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
): Promise<Outcome | undefined> {
  if (!(error instanceof KubeError)) return undefined;
  const { failure } = error;
  const away = await noteClusterFailure(parts, worker, failure);
  if (away !== undefined || failure.kind === 'unknown') return away;
  const { message, retryAfterMs = passes(failure) ? 0 : REFUSED_MS } = failure;
  return snooze(Math.max(retryAfterMs, soonMs(worker)), message);
}

/**
 * Counts the failure against the worker's key, unless the cluster is away. Returns how the task
 * ends then.
 */
export async function noteClusterFailure(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: KubeFailure,
): Promise<Outcome | undefined> {
  const { db, reach, events, failureRules } = parts;
  events.podNotCreated(worker, failure);
  const away = await ifClusterAway(reach, failure);
  if (away !== undefined) return away;
  const failureClass = passes(failure) ? CLUSTER_ERROR : POD_REFUSED;
  const { podName, readAt: beganAt } = worker;
  await noteKeyFailure(
    db,
    { podName, failureClass, message: failure.message, beganAt },
    failureRules,
  );
  return undefined;
}

/** Whether it may pass by itself: a webhook is away, an object has changed, something is busy. */
function passes({ kind }: KubeFailure): boolean {
  switch (kind) {
    case 'invalid':
    case 'forbidden':
    case 'unauthorized':
    case 'not_found':
      return false;
    case 'unavailable':
    case 'timeout':
    case 'too_many_requests':
    case 'network':
    case 'exists':
    case 'conflict':
    case 'gone':
    case 'unknown':
      return true;
    default:
      return kind satisfies never;
  }
}
