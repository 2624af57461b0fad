import { noteKeySuccess } from '@paddock/db/workers/failing-keys';
import { isPending, savePod, type WorkerToProvision } from '@paddock/db/workers/workers';
import type { Pool } from '@paddock/domain/pools/pool';
import { isTransient, KubeError, type KubeFailure } from '@paddock/kube/errors';
import type { WorkerIdentity } from '@paddock/kube/labels';
import { createPod } from '@paddock/kube/pods';
import { runnerPod } from '@paddock/kube/runner-pod';
import { createSecret, deleteSecret, setSecretOwner, runnerSecret } from '@paddock/kube/secrets';
import { done, type Outcome, type Task } from '@paddock/queue/kind';
import { pause } from '@paddock/runtime/pause';
import { hasTimeLeft, requireTimeLeft, retryWhileAway, type TaskRun } from '../task-run.ts';
import type { Provisioning } from './provisioning.ts';

/** The pauses between the tries to put a Secret. */
const SECRET_PAUSES_MS = [250, 500, 1_000];
/** Even if the cluster asks for more: a worker that waits here takes a slot from others. */
const LONGEST_SECRET_PAUSE_MS = 1_000;

/**
 * Asks the cluster whether it would take the worker's Secret and pod, and creates nothing. So no
 * registration is spent on a pod that the cluster would refuse. A Secret that is there may have used
 * up its quota. Throws KubeError. A cluster whose webhooks allow no dry run counts as willing.
 */
export async function dryRun(
  { cluster }: Provisioning,
  worker: WorkerToProvision,
  pool: Pool,
  { task, hasSecret }: { readonly task: Task; readonly hasSecret: boolean },
): Promise<void> {
  requireTimeLeft(task);
  // One after the other: an API server with no room for two calls at once would refuse one of them.
  for (const create of [
    async () => hasSecret || createSecret(cluster, secretOf(worker, 'a trial'), { dryRun: true }),
    () => createPod(cluster, podOf(worker, pool), { dryRun: true }),
  ])
    await create().catch((error: unknown) => {
      if (!allowsNoDryRun(error)) throw error;
    });
}

const allowsNoDryRun = (error: unknown): boolean =>
  error instanceof KubeError && error.failure.reason === 'BadRequest';

/**
 * Puts the JIT config where only the worker's pod reads it. A Secret that exists is ours: only one
 * run gets a JIT config. Waits here for what passes within seconds, since GitHub gives no JIT
 * config twice. Returns why the Secret could not be put; it may exist all the same if only the
 * answer was lost.
 */
export async function putSecret(
  parts: Pick<Provisioning, 'cluster' | 'db'>,
  worker: WorkerToProvision,
  jitConfig: string,
  run: TaskRun,
): Promise<KubeFailure | undefined> {
  const { task, signal } = run;
  const secret = secretOf(worker, jitConfig);
  for (let tries = 0; ; tries += 1) {
    requireTimeLeft(task);
    try {
      await createSecret(parts.cluster, secret);
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const pauseMs = SECRET_PAUSES_MS[tries];
      if (pauseMs === undefined || !isTransient(error.failure)) return error.failure;
      const askedMs = Math.min(error.failure.retryAfterMs ?? 0, LONGEST_SECRET_PAUSE_MS);
      await pause(Math.max(pauseMs, askedMs), signal);
      if (signal.aborted || !hasTimeLeft(task)) await removeIfUnwanted(parts, worker, run);
      signal.throwIfAborted();
    }
  }
}

/**
 * A run that stalled may wake up after another has ended the row, and looked for what had been made:
 * its pod would be one too many, and its Secret must go, also without any time left.
 */
async function removeIfUnwanted(
  { db, cluster }: Pick<Provisioning, 'cluster' | 'db'>,
  worker: WorkerToProvision,
  run: TaskRun,
): Promise<boolean> {
  if (await retryWhileAway(run, () => isPending(db, worker.podName))) return false;
  await deleteSecret(cluster, nameOf(worker));
  return true;
}

/** Creates the worker's pod on its Secret, writes the pod down, and makes it the Secret's owner. */
export async function startPod(
  parts: Provisioning,
  worker: WorkerToProvision,
  pool: Pool,
  run: TaskRun,
): Promise<Outcome> {
  const { db, cluster } = parts;
  if (await removeIfUnwanted(parts, worker, run))
    return done({ ended: 'the worker ended before its pod was made' });
  requireTimeLeft(run.task);
  const { uid, outcome, warnings } = await createPod(cluster, podOf(worker, pool));
  parts.events.podWarned(worker, warnings);
  if (worker.isWatched)
    await retryWhileAway(run, () => noteKeySuccess(db, worker.podName, 'pod_created'));
  return finishPod(parts, worker, { uid, isNew: outcome === 'created' }, run);
}

/** Writes the pod down first: from then on only the pod's status may end the row. */
export async function finishPod(
  parts: Provisioning,
  worker: WorkerToProvision,
  { uid, isNew }: { uid: string; isNew: boolean },
  run: TaskRun,
): Promise<Outcome> {
  const seconds = await retryWhileAway(run, () => savePod(parts.db, worker.podName, uid));
  if (isNew) parts.events.podCreated(worker, seconds);
  return adoptSecret(parts, worker, uid, run.task);
}

/**
 * Makes the pod the Secret's owner, so that the cluster deletes the Secret with the pod. The pod
 * starts meanwhile.
 */
async function adoptSecret(
  { cluster }: Provisioning,
  worker: WorkerToProvision,
  podUid: string,
  task: Task,
): Promise<Outcome> {
  const { podName } = worker;
  requireTimeLeft(task);
  const secret = await setSecretOwner(cluster, { ...nameOf(worker), podName, podUid });
  return done({ podUid, secret });
}

/** The worker's pod, as its pool is configured today. */
export const podOf = (worker: WorkerToProvision, pool: Pool) =>
  runnerPod({ ...pool, ...nameOf(worker), ...identityOf(worker) });

const secretOf = (worker: WorkerToProvision, jitConfig: string) =>
  runnerSecret({ ...nameOf(worker), ...identityOf(worker), jitConfig });

const nameOf = ({ podName: name, namespace }: WorkerToProvision) => ({ name, namespace });

function identityOf(worker: WorkerToProvision): WorkerIdentity {
  const { instance, pool, entityId, scopeRepoId, madeForJobId, deliveryGuid } = worker;
  const { entityType: type, login: name, appId, installationId, repoFullName } = worker;
  return {
    instance,
    pool,
    entityId,
    scopeRepoId,
    madeForJobId,
    deliveryGuid,
    entity: {
      type,
      name,
      appId,
      installationId,
      repoFullName: type === 'Organization' ? null : repoFullName,
    },
  };
}
