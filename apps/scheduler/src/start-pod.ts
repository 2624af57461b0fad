import { clusterBreaker, noteFailure, noteSuccess, poolBreaker } from '@paddock/db/breakers';
import type { Database } from '@paddock/db/tables';
import { isPending, savePod, type WorkerToProvision } from '@paddock/db/workers';
import type { Pool } from '@paddock/domain/pools-document';
import type { Cluster } from '@paddock/kube/connect';
import { KubeError, type KubeFailure } from '@paddock/kube/errors';
import type { WorkerIdentity } from '@paddock/kube/labels';
import { createPod } from '@paddock/kube/pods';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';
import { createSecret, deleteSecret, setSecretOwner } from '@paddock/kube/secrets';
import { done, type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import type { Kysely } from 'kysely';
import type { SchedulerEvents } from './events.ts';
import { failWorker } from './fail-worker.ts';
import { requireLease } from './lease.ts';

export interface Starting {
  readonly db: Kysely<Database>;
  readonly cluster: Cluster;
  readonly events: SchedulerEvents;
}

/** Puts the JIT config where only the worker's pod reads it. One that is there already is ours: one run only ever gets a JIT config. */
export async function putSecret({ cluster }: Starting, worker: WorkerToProvision, jitConfig: string, task: Task): Promise<void> {
  requireLease(task);
  await createSecret(cluster, runnerSecret({ name: worker.podName, namespace: worker.namespace, ...identityOf(worker), jitConfig }));
}

/** Creates the worker's pod on its Secret, then makes it the Secret's owner. */
export async function startPod(
  parts: Starting,
  worker: WorkerToProvision,
  pool: Pool,
  { task, isWatched }: { task: Task; isWatched: boolean },
): Promise<Outcome> {
  const { db, cluster } = parts;
  const place = { namespace: worker.namespace, name: worker.podName };
  // A run that stalled may wake up here after its successor has ended the row: a pod would be one too many.
  if (!(await isPending(db, worker.podName))) {
    await deleteSecret(cluster, place);
    return done({ ended: 'the worker ended before its pod was made' });
  }
  requireLease(task);
  const pod = runnerPod({ ...pool, ...place, ...identityOf(worker) });
  const { uid, outcome } = await createPod(cluster, pod);
  if (isWatched) {
    await noteSuccess(db, [poolBreaker(pool.name)], POD_REFUSED);
    await noteSuccess(db, [clusterBreaker(worker.cluster)]);
  }
  return finishPod(parts, worker, { uid, isNew: outcome === 'created' }, task);
}

/** The pod is there: written down first, since from now on only its own status may end the row. */
export async function finishPod(
  parts: Starting,
  worker: WorkerToProvision,
  { uid, isNew }: { uid: string; isNew: boolean },
  task: Task,
): Promise<Outcome> {
  const seconds = await savePod(parts.db, worker.podName, uid);
  if (isNew) parts.events.podCreated(worker, seconds);
  return adoptSecret(parts, worker, uid, task);
}

/** The last step, when the pod already starts: from now on the Secret goes with it, whatever becomes of us. */
export async function adoptSecret({ cluster }: Starting, worker: WorkerToProvision, podUid: string, task: Task): Promise<Outcome> {
  requireLease(task);
  const place = { namespace: worker.namespace, name: worker.podName };
  const secret = await setSecretOwner(cluster, { ...place, podName: worker.podName, podUid });
  return done({ podUid, secret });
}

/**
 * What a refusal of the cluster means for the worker's task; undefined: it is an ordinary failure, to be tried again. Every 403 (quota, Pod
 * Security, policies) waits with the cluster's own words as the reason; a manifest that is refused as such ends the worker.
 */
export async function afterKubeFailure({ db, events }: Starting, worker: WorkerToProvision, error: unknown): Promise<Outcome | undefined> {
  if (!(error instanceof KubeError)) return undefined;
  const { failure } = error;
  events.clusterFailed(worker, failure);
  const isPoolsFault = failure.kind === 'invalid' || isRefusal(failure);
  const subject = isPoolsFault ? poolBreaker(worker.pool) : clusterBreaker(worker.cluster);
  await noteFailure(db, { subject, failureClass: isPoolsFault ? POD_REFUSED : 'away', message: failure.message });
  if (failure.kind === 'invalid') {
    await failWorker(db, worker.podName, { reason: 'pod_refused', message: failure.message });
    return done({ ended: 'pod_refused' });
  }
  return isRefusal(failure) ? snooze(failure.retryAfterMs ?? REFUSED_MS, failure.message) : undefined;
}

const REFUSED_MS = 30_000;
/** The pool's failures of which a created pod is the contrary. */
const POD_REFUSED = 'pod_refused';

/** A namespace that is not there is a 404 of the creation. */
const isRefusal = ({ kind }: KubeFailure): boolean => ['forbidden', 'unauthorized', 'too_many_requests', 'not_found'].includes(kind);

function identityOf(worker: WorkerToProvision): WorkerIdentity {
  return {
    instance: worker.instance,
    pool: worker.pool,
    entityId: worker.entityId,
    scopeRepoId: worker.scopeRepoId,
    cluster: worker.cluster,
    ...(worker.madeForJobId === null ? {} : { madeForJobId: worker.madeForJobId }),
    ...(worker.deliveryGuid === null ? {} : { deliveryGuid: worker.deliveryGuid }),
    account: {
      type: worker.entityType,
      name: worker.login,
      appId: worker.appId,
      installationId: worker.installationId,
      ...(worker.entityType === 'Organization' || worker.repoFullName === null ? {} : { repoFullName: worker.repoFullName }),
    },
  };
}
