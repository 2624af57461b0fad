import { findWorkerToProvision, type WorkerToProvision } from '@paddock/db/workers/workers';
import { servesWithPin } from '@paddock/domain/pools/gate';
import { findAskedPod } from '@paddock/kube/pods';
import { secretExists } from '@paddock/kube/secrets';
import { done, type Handler, type Outcome, poison, snooze } from '@paddock/queue/kind';
import { awaitGitHub } from '../service-away.ts';
import { requireTimeLeft, type TaskRun } from '../task-run.ts';
import { afterClusterFailure, noteClusterFailure } from './after-cluster-failure.ts';
import { failWorker, type Provisioning } from './provisioning.ts';
import { registerRunner } from './register-runner.ts';
import { dryRun, finishPod, podOf, putSecret, startPod } from './start-pod.ts';

/**
 * Makes a reserved worker real: a registration at GitHub, a Secret with its JIT config, a pod. Each
 * run begins at step 1 and learns from the row and the cluster what earlier runs have done. No run
 * deletes a registration: the runner of a stalled run may be live.
 */
export function createProvisionWorker(parts: Provisioning): Handler {
  return async (task, signal) => {
    const worker = await findWorkerToProvision(parts.db, task.subject.id, parts.github.appIds);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    try {
      return await provision(parts, worker, { task, signal });
    } catch (error) {
      signal.throwIfAborted();
      const outcome = await afterClusterFailure(parts, worker, error);
      if (outcome !== undefined) return outcome;
      // The queue allows no further run: the worker ends, and the matcher reserves another.
      if (task.attempt >= task.maxAttempts) {
        const message = `The worker could not be started: ${error instanceof Error ? error.message : String(error)}`;
        await failWorker(parts, worker, { reason: 'provisioning_failed', message });
      }
      throw error;
    }
  };
}

async function provision(
  parts: Provisioning,
  worker: WorkerToProvision,
  run: TaskRun,
): Promise<Outcome> {
  const { task } = run;

  // 1. Is the worker still wanted?
  const { status, podUid, stoppingAt, poolToday: pool } = worker;
  if (status === 'completed' || status === 'failed') return done({ ended: status });
  if (podUid === null && stoppingAt !== null) return done({ ended: 'stopping' });

  // 2. What have earlier runs made? The answer also proves that the cluster can take a JIT config.
  requireTimeLeft(task);
  const place = { namespace: worker.namespace, name: worker.podName };
  const [pod, hasSecret] = await Promise.all([
    findAskedPod(parts.cluster, place, pool && podOf(worker, pool)),
    secretExists(parts.cluster, place),
  ]);
  if (pod !== undefined) {
    parts.events.podWarned(worker, pod.warnings);
    return finishPod(parts, worker, { uid: pod.uid, isNew: false }, run);
  }
  if (podUid !== null) return done({ ended: 'its pod is gone' });

  // 3. Does the pool still serve the worker's entity?
  if (pool === undefined) {
    const message = `The pool ${worker.pool} is no longer configured.`;
    return failWorker(parts, worker, { reason: 'pool_unknown', message });
  }
  const { entityId: id, login, loginOwner } = worker;
  if (!servesWithPin(pool, { id, login }, loginOwner ?? undefined)) {
    const message = `The pool ${worker.pool} no longer serves ${login}.`;
    return failWorker(parts, worker, { reason: 'pool_closed', message });
  }

  // 4. May it be made now, and would the cluster take its Secret and pod?
  if (!hasSecret) {
    if (worker.registrationStartedAt !== null) {
      const message = 'A registration was begun, and its JIT config is lost.';
      return failWorker(parts, worker, { reason: 'registration_interrupted', message });
    }
    if (worker.isPaused) return snooze(PAUSED_MS, 'its key is paused after failures');
    if (worker.refusedForMs !== null)
      return awaitGitHub({ retryAfterMs: worker.refusedForMs, message: 'GitHub refuses us there' });
  }
  if (worker.isWatched) await dryRun(parts, worker, pool, { task, hasSecret });

  if (!hasSecret) {
    // 5. Register the runner.
    const registered = await registerRunner(parts, worker, pool, run);
    if ('instead' in registered) return registered.instead;

    // 6. Put its JIT config into the Secret. GitHub gives a JIT config out once: if it is lost, so
    // is the worker.
    const lost = await putSecret(parts, worker, registered.jitConfig, run);
    if (lost !== undefined) {
      await noteClusterFailure(parts, worker, lost);
      const message = `The Secret with the JIT config could not be put: ${lost.message}`;
      return failWorker(parts, worker, { reason: 'registration_interrupted', message });
    }
  }

  // 7. Create the pod, write it down, and make it the Secret's owner.
  return startPod(parts, worker, pool, run);
}

/** The matcher gives the reservation back meanwhile. */
const PAUSED_MS = 2_000;
