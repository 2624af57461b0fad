import { entityInPoolBreaker, clusterBreaker, poolBreaker, registrationBreakers } from '@paddock/db/breakers/breaker-subjects';
import { giveBackTrial, passBreakers, UNWATCHED } from '@paddock/db/breakers/breakers';
import { findWorkerToProvision, type WorkerToProvision } from '@paddock/db/workers/workers';
import { servesBearer } from '@paddock/domain/pools/gate';
import { KubeError, type KubeFailure } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { findPod } from '@paddock/kube/pods';
import { secretExists } from '@paddock/kube/secrets';
import type { Handler } from '@paddock/queue/kind';
import { done, type Outcome, poison, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import { type FailReason, failWorker } from './fail-worker.ts';
import { requireLease } from '../require-lease.ts';
import { registerRunner } from './register-runner.ts';
import type { Registering } from './registering.ts';
import { putSecret } from './put-secret.ts';
import {
  adoptSecret,
  afterKubeFailure,
  finishPod,
  noteKubeFailure,
  noteUnanswered,
  type Starting,
  startPod,
  type Trial,
  tryCluster,
} from './start-pod.ts';
import { waitForReturn } from './wait-for-return.ts';
import type { Run } from './while-away.ts';

export type Provisioning = Registering & Starting;

/**
 * Makes a reserved worker real, from the top at every run (C6):
 *
 *   wanted? ─► pod there? ──────────────────────────────► Secret's owner ─► done
 *                 │ no                                          ▲
 *                 ▼                                             │
 *              Secret there? ───────────────────────────► pod ──┘
 *                 │ no                                     ▲
 *                 ▼                                        │
 *              registration begun before? ─► no: JIT ─► Secret
 *                 │ yes
 *                 ▼
 *              the row ends; the matcher reserves another. No run ever deletes a registration: a stalled one's runner may be live.
 */
export function createProvisionWorker(parts: Provisioning): Handler {
  return async (task, signal) => {
    const worker = await findWorkerToProvision(parts.db, task.subject.id, parts.github.appIds);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    const trial: Trial = { id: undefined };
    try {
      return await provision(parts, worker, { task, signal }, trial);
    } catch (error) {
      signal.throwIfAborted();
      const outcome = await afterKubeFailure(parts, worker, error, signal);
      if (outcome !== undefined) return outcome;
      if (task.attempt >= task.maxAttempts) await giveUp(parts, worker, error);
      throw error;
    } finally {
      if (trial.id !== undefined) await giveBackTrial(parts.db, breakersOf(worker), trial.id);
    }
  };
}

async function provision(parts: Provisioning, worker: WorkerToProvision, run: Run, trial: Trial): Promise<Outcome> {
  const { task, signal } = run;
  const { status, podUid, stoppingAt } = worker;
  if (status === 'completed' || status === 'failed') return done({ ended: status });
  if (podUid !== null) return adoptSecret(parts, worker, podUid, task);
  if (stoppingAt !== null) return done({ ended: 'stopping' });

  const there = await lookAtCluster(parts, worker, task);
  if ('away' in there) {
    return waitForReturn(worker, await noteUnanswered(parts, worker, there.away), there.away);
  }
  if (there.pod !== undefined) return finishPod(parts, worker, { uid: there.pod.uid, isNew: false }, run);

  const pool = worker.poolToday;
  if (pool === undefined) return fail(parts, worker, 'pool_unknown', `The pool ${worker.pool} is not in the configuration any more.`);
  if (!servesBearer(pool, { id: worker.entityId, login: worker.login }, worker.loginOwner ?? undefined)) {
    return fail(parts, worker, 'pool_closed', `The pool ${worker.pool} does not serve ${worker.login} any more.`);
  }
  // A Secret that is there is from a run that did not come to its end.
  let isWatched = true;
  if (!there.secret) {
    if (worker.registrationStartedAt !== null) {
      return fail(parts, worker, 'registration_interrupted', 'A registration was begun, and its JIT config is lost.');
    }
    const passage = worker.isWatched ? await passBreakers(parts.db, breakersOf(worker)) : UNWATCHED;
    const { heldBy } = passage;
    if (heldBy !== undefined) return snooze(passage.waitMs, `held back after failures: ${passage.message}`, { heldBy });
    ({ isWatched } = passage);
    trial.id = passage.trial;
    if (isWatched) await tryCluster(parts, worker, pool, task);
    const registered = await registerRunner(parts, worker, pool, { task, isWatched }, signal);
    if ('instead' in registered) return registered.instead;
    const lost = await putSecret(parts, worker, registered.jitConfig, run);
    if (lost !== undefined) return loseRegistration(parts, worker, lost, signal);
  }
  return startPod(parts, worker, pool, { run, isWatched, trial });
}

/** The JIT config went with the Secret that could not be put, and GitHub gives it out once: the row ends here, and the matcher makes the next. */
async function loseRegistration(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: KubeFailure,
  signal: AbortSignal,
): Promise<Outcome> {
  await noteKubeFailure(parts, worker, failure, signal);
  return fail(parts, worker, 'registration_interrupted', `The Secret with the JIT config could not be put: ${failure.message}`);
}

const breakersOf = (worker: WorkerToProvision) => [
  ...registrationBreakers(worker),
  poolBreaker(worker.pool),
  entityInPoolBreaker(worker),
  clusterBreaker(worker.cluster),
];

/** Also proves that the cluster answers, before a JIT config is asked for that could then not be used. */
async function lookAtCluster(
  { cluster }: Provisioning,
  worker: WorkerToProvision,
  task: Task,
): Promise<{ pod: ObservedPod | undefined; secret: boolean } | { away: KubeFailure }> {
  requireLease(task);
  const place = { namespace: worker.namespace, name: worker.podName };
  try {
    const [pod, secret] = await Promise.all([findPod(cluster, place), secretExists(cluster, place)]);
    return { pod, secret };
  } catch (error) {
    if (!(error instanceof KubeError && ['network', 'timeout', 'unavailable'].includes(error.failure.kind))) throw error;
    return { away: error.failure };
  }
}

async function fail(parts: Provisioning, worker: WorkerToProvision, reason: FailReason, message: string): Promise<Outcome> {
  await failWorker(parts, worker, { reason, message });
  return done({ ended: reason });
}

/** The last run that the queue allows has failed: the worker ends with it, and the matcher makes another. */
async function giveUp(parts: Provisioning, worker: WorkerToProvision, error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  await fail(parts, worker, 'provisioning_failed', `The worker could not be started: ${message}`);
}
