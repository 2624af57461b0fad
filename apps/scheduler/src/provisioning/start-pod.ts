import { AWAY, POD_REFUSED } from '@paddock/db/breakers/failure-classes';
import { type BreakerSubject, clusterBreaker, poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import { type Hold, noteFailure, type Noting } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { isPending, savePod, type WorkerToProvision } from '@paddock/db/workers/workers';
import type { Pool } from '@paddock/domain/pools/pool';
import type { Cluster } from '@paddock/kube/connect';
import { isAway, KubeError, type KubeFailure } from '@paddock/kube/errors';
import { createPod } from '@paddock/kube/pods';
import { createSecret, deleteSecret, setSecretOwner } from '@paddock/kube/secrets';
import { done, type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import { isClusterAway } from '../cluster-away.ts';
import type { SchedulerEvents } from '../events.ts';
import { requireLease } from '../require-lease.ts';
import { podOf, secretOf } from './manifests.ts';
import { waitForReturn } from './wait-for-return.ts';
import { type Run, tryWhileAway } from './while-away.ts';

export interface Starting extends Noting {
  readonly cluster: Cluster;
  readonly events: SchedulerEvents;
}

/**
 * Asks the cluster whether it would take the worker's Secret and pod, and makes nothing: while something has failed lately, no registration
 * is spent on what would be refused (C11). Throws KubeError. A cluster that cannot say so beforehand, for one of its webhooks does not, is
 * taken to agree.
 */
export async function tryCluster({ cluster }: Starting, worker: WorkerToProvision, pool: Pool, task: Task): Promise<void> {
  requireLease(task);
  const creations = [
    createSecret(cluster, secretOf(worker, 'a trial'), { dryRun: true }),
    createPod(cluster, podOf(worker, pool), { dryRun: true }),
  ];
  for (const tried of await Promise.allSettled(creations)) {
    if (tried.status === 'rejected' && !saysNothing(tried.reason)) throw tried.reason;
  }
}

const saysNothing = (error: unknown): boolean => error instanceof KubeError && error.failure.reason === 'BadRequest';

/** What open breakers know this run by, while it has not shown that all works; its pod shows it, sooner or later. */
export interface Trial {
  id: string | undefined;
}

/** Creates the worker's pod on its Secret, then makes it the Secret's owner. */
export async function startPod(
  parts: Starting,
  worker: WorkerToProvision,
  pool: Pool,
  { run, isWatched, trial }: { run: Run; isWatched: boolean; trial: Trial },
): Promise<Outcome> {
  const { db, cluster } = parts;
  const place = { namespace: worker.namespace, name: worker.podName };
  // A run that stalled may wake up here after its successor has ended the row: a pod would be one too many.
  const isWanted = await tryWhileAway(run, () => isPending(db, worker.podName));
  requireLease(run.task);
  if (!isWanted) {
    await deleteSecret(cluster, place);
    return done({ ended: 'the worker ended before its pod was made' });
  }
  const { uid, outcome, warnings } = await createPod(cluster, podOf(worker, pool));
  parts.events.podWarned(worker, warnings);
  trial.id = undefined;
  if (isWatched) {
    await tryWhileAway(run, () => noteSuccess(db, [poolBreaker(pool.name)], { only: POD_REFUSED }));
    await tryWhileAway(run, () => noteSuccess(db, [clusterBreaker(worker.cluster)]));
  }
  return finishPod(parts, worker, { uid, isNew: outcome === 'created' }, run);
}

/** The pod is there: written down first, since from now on only its own status may end the row. */
export async function finishPod(
  parts: Starting,
  worker: WorkerToProvision,
  { uid, isNew }: { uid: string; isNew: boolean },
  run: Run,
): Promise<Outcome> {
  const seconds = await tryWhileAway(run, () => savePod(parts.db, worker.podName, uid));
  if (isNew) parts.events.podCreated(worker, seconds);
  return adoptSecret(parts, worker, uid, run.task);
}

/** The last step, when the pod already starts: from now on the Secret goes with it, whatever becomes of us. */
export async function adoptSecret({ cluster }: Starting, worker: WorkerToProvision, podUid: string, task: Task): Promise<Outcome> {
  requireLease(task);
  const place = { namespace: worker.namespace, name: worker.podName };
  const secret = await setSecretOwner(cluster, { ...place, podName: worker.podName, podUid });
  return done({ podUid, secret });
}

/**
 * What a failure of the cluster means for the worker's task; undefined: it is an ordinary one, to be tried again. A worker whose pod is
 * refused (quota, Pod Security, policies, a bad template, a webhook that fails) or cannot be made just now waits with the cluster's own words
 * as the reason, and keeps its registration: it needs no other once the cause is gone.
 */
export async function afterKubeFailure(
  parts: Starting,
  worker: WorkerToProvision,
  error: unknown,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  if (!(error instanceof KubeError)) return undefined;
  const { failure } = error;
  const { isOfPool, hold } = await noteKubeFailure(parts, worker, failure, signal);
  if (isAway(failure) && !isOfPool) return waitForReturn(worker, hold, failure);
  return failure.kind === 'unknown' ? undefined : snooze(Math.max(failure.retryAfterMs ?? LOOK_AGAIN_MS, SOONEST_MS), failure.message);
}

/** Counts the failure of a creation against what is at fault. Returns the hold of its breaker, if that is open. */
export async function noteKubeFailure(
  parts: Starting,
  worker: WorkerToProvision,
  failure: KubeFailure,
  signal: AbortSignal,
): Promise<{ isOfPool: boolean; hold: Hold | undefined }> {
  const fault = await faultOf(parts, failure, worker, signal);
  parts.events.clusterFailed(worker, failure);
  const hold = await noteFailure(parts, { ...fault, message: failure.message });
  return { isOfPool: fault.subject.type === 'pool', hold };
}

/** Counts a read that the cluster did not answer: no webhook is asked about reads, so it is of no pool. */
export async function noteUnanswered(parts: Starting, worker: WorkerToProvision, failure: KubeFailure): Promise<Hold | undefined> {
  parts.events.clusterFailed(worker, failure);
  return noteFailure(parts, { subject: clusterBreaker(worker.cluster), failureClass: AWAY, message: failure.message });
}

const LOOK_AGAIN_MS = 30_000;
/** A server that is short of room asks for a second; hundreds of workers that come back each second would leave it none. */
const SOONEST_MS = 5_000;

/**
 * A namespace that is not there is a 404 of the creation, and of the pool. So is a webhook that fails, or does not answer in time while the API
 * server does. Whatever else is not about this pod is of the cluster.
 */
async function faultOf(
  { cluster }: Starting,
  failure: KubeFailure,
  worker: WorkerToProvision,
  signal: AbortSignal,
): Promise<{ subject: BreakerSubject; failureClass: string }> {
  const ofPool = { subject: poolBreaker(worker.pool), failureClass: POD_REFUSED };
  const ofCluster = (failureClass: string) => ({ subject: clusterBreaker(worker.cluster), failureClass });
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
