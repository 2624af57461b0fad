import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { findEndWithoutJob, markOutdatedRunner } from '@paddock/db/workers/runner-versions';
import { findWorkerPlace, type WorkerPlace } from '@paddock/db/workers/workers';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import { connectionProblem } from '@paddock/domain/workers/connection-problem';
import { OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient, KubeError, type KubeFailure } from '@paddock/kube/errors';
import { findPod } from '@paddock/kube/pods';
import { jobInLog, readRefusedVersion } from '@paddock/kube/runner-log';
import { done, type Handler, poison } from '@paddock/queue/kind';
import { examinePod, keepDiagnosis, TAIL_LINES } from './examine-pod.ts';
import { type NotingFailures, outdatedMessage } from './note-health.ts';

/** What handlers need that act on one worker's pod. */
export interface Diagnosing extends NotingFailures {
  readonly cluster: Cluster;
}

/**
 * Saves what the pod shows in the row of a worker that failed, or whose pod neither starts nor
 * goes: exit codes, reasons, conditions, events, the ends of the logs. If the runner ended well
 * without a job, finds out whether GitHub refused its version or the runner never reached GitHub.
 */
export function createDiagnosePod(parts: Diagnosing): Handler {
  const { db, cluster } = parts;
  return async (task, signal) => {
    const worker = await findWorkerPlace(db, task.subject.id);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    const refused = await noteRefusedVersion(parts, worker.podName, signal);
    if (worker.status === 'completed') {
      const unreached =
        refused === undefined ? await noteUnreached(parts, worker, signal) : undefined;
      return done({
        diagnosed: refused !== undefined || unreached !== undefined,
        refused,
        unreached,
      });
    }
    if (worker.status !== 'failed' && worker.stuckReason === null)
      return done({ diagnosed: false, status: worker.status });
    if (worker.isExamined) return done({ diagnosed: false, before: 'it was stopped' });
    const pod = await findPod(cluster, { namespace: worker.namespace, name: worker.podName });
    if (pod === undefined) return done({ diagnosed: false, pod: 'absent' });
    const diagnosis = await examinePod(cluster, pod, worker.stuckReason, signal);
    const diagnosed = await keepDiagnosis(db, worker, diagnosis);
    return done({ diagnosed, reason: diagnosis.reason });
  };
}

/**
 * Reads the log of a runner that ended without a job. GitHub refuses a runner whose version it no
 * longer serves; the runner then ends, often with exit code 0. Such an end counts as explained, and
 * against the worker's key. Returns the refused version, if there is one. Throws while the log of a
 * runner that ended well cannot be read, since nothing else shows the refusal.
 */
async function noteRefusedVersion(
  parts: Diagnosing,
  podName: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { db, cluster, failureRules } = parts;
  const end = await findEndWithoutJob(db, podName);
  if (end === undefined) return undefined;
  const version = await readRefusedVersion(
    cluster,
    { namespace: end.namespace, name: podName },
    signal,
  );
  // The diagnosis keeps the log of a runner that ended badly, and does not wait for it.
  if (typeof version === 'object' && end.hasEndedWell && isTransient(version.unreadable))
    throw unreadable(version.unreadable);
  if (typeof version !== 'string') return undefined;
  const message = outdatedMessage(version);
  await db.transaction().execute(async (trx) => {
    if (await markOutdatedRunner(trx, podName, message))
      await noteKeyFailure(trx, { podName, failureClass: OUTDATED_RUNNER, message }, failureRules);
  });
  return version;
}

/** A silent node costs an attempt; otherwise the diagnoses of its pods would take all slots. */
const unreadable = (failure: KubeFailure): Error =>
  failure.kind === 'timeout' ? new Error(failure.message) : new KubeError(failure);

/**
 * Saves why a runner that ended well never reached GitHub. The official image ends with 0 if it has
 * no registration, or one that GitHub does not know. The end stays unexplained: only GitHub can say
 * that no job ran. Returns the cause that the log shows, if there is one.
 */
async function noteUnreached(
  { db, cluster }: Diagnosing,
  worker: WorkerPlace,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pod = await findPod(cluster, { namespace: worker.namespace, name: worker.podName });
  if (pod === undefined) return undefined;
  const diagnosis = await examinePod(cluster, pod, 'not_registered', signal);
  const log = diagnosis.containers.find(({ name }) => name === RUNNER_CONTAINER)?.log ?? '';
  const isCut = log.split('\n').length > TAIL_LINES;
  const hasReached = isCut || jobInLog(log) !== 'silent';
  if (hasReached || connectionProblem(log) === undefined) return undefined;
  return (await keepDiagnosis(db, worker, diagnosis)) ? diagnosis.message : undefined;
}
