import type { Noting } from '@paddock/db/breakers/note-failure';
import { noteWorkerFailure } from '@paddock/db/workers/worker-failures';
import { markRegistrationsGone } from '@paddock/db/workers/registrations';
import {
  endStoppedWorker,
  findWorkerToStop,
  keepForJob,
  keepWorker,
  markDeregistering,
  mayStop,
  noteStopHeldUp,
  type WorkerToStop,
} from '@paddock/db/workers/stopping-workers';
import { describeStop } from '@paddock/domain/workers/stop-reasons';
import {
  hasOutlived,
  nextStopStep,
  type StopEvidence,
  type StopRules,
  type StopStep,
} from '@paddock/domain/workers/stop-steps';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import { deleteRunner } from '@paddock/github/runners';
import { deletePod } from '@paddock/kube/pods';
import { enqueue } from '@paddock/queue/enqueue';
import type { Handler } from '@paddock/queue/kind';
import { done, type Outcome, poison, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import { afterStopFailure, isRefused } from './after-stop-failure.ts';
import type { SchedulerEvents } from '../events.ts';
import { isExplainedByPod } from '../following/diagnosis.ts';
import { examinePod } from '../following/examine-pod.ts';
import { keepDiagnosis } from '../following/keep-diagnosis.ts';
import { requireTimeLeft } from '../task-run.ts';
import { type ReadingEvidence, readEvidence, placeOf, type Seen } from './read-evidence.ts';

export interface Stopping extends ReadingEvidence, Noting {
  readonly events: SchedulerEvents;
  readonly stopRules: StopRules;
}

/**
 * Ends a worker that is being stopped, or keeps it. Each attempt starts over: `nextStopStep` names
 * the evidence to read next, and what to do once there is enough. Attempts share only the row; each
 * wait is a snooze. A worker is kept as soon as anything shows that a job runs on it.
 */
export function createStopWorker(parts: Stopping): Handler {
  return async (task, signal) => {
    const worker = await findWorkerToStop(parts.db, task.subject.id, parts.github.appIds);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    const { deliveryGuid } = worker;
    const correlation = deliveryGuid === null ? {} : { correlationId: deliveryGuid };
    const seen: Seen = { client: parts.github.asInstallation(worker, { signal, ...correlation }) };
    let evidence: StopEvidence = { worker: evidenceInRow(worker) };
    try {
      for (;;) {
        const step = nextStopStep(evidence, parts.stopRules);
        if (!('look' in step)) return await act(step, parts, worker, { seen, task, signal });
        evidence = await readEvidence(step.look, parts, worker, { evidence, seen, signal });
      }
    } catch (error) {
      signal.throwIfAborted();
      if (hasOutlived(evidence) && isRefused(error)) return end(parts, worker);
      return afterStopFailure(parts, worker, error);
    }
  };
}

function evidenceInRow({
  status,
  podUid,
  stopReason,
  ...row
}: WorkerToStop): StopEvidence['worker'] {
  const {
    isStopping,
    isAssigned,
    hadJob,
    registrationBegun,
    deregistration,
    deregisteredForMs,
    podlessForMs,
    wasOnline,
  } = row;
  return {
    hasEnded: status === 'completed' || status === 'failed',
    hadPod: podUid !== null,
    reason: stopReason,
    // Readings of earlier attempts do not count: an attempt that needs one takes it.
    idleForMs: null,
    offlineForMs: null,
    isStopping,
    isAssigned,
    hadJob,
    registrationBegun,
    deregistration,
    deregisteredForMs,
    podlessForMs,
    wasOnline,
  };
}

type Act = Exclude<StopStep, { look: unknown }>;

interface Attempt {
  readonly seen: Seen;
  readonly task: Task;
  readonly signal: AbortSignal;
}

async function act(
  step: Act,
  parts: Stopping,
  worker: WorkerToStop,
  attempt: Attempt,
): Promise<Outcome> {
  const { db, events } = parts;
  const { podName } = worker;
  const { seen, task } = attempt;
  switch (step.act) {
    case 'leave':
      return done({ left: step.why });
    case 'keep':
      return keep(parts, worker, { isAssigned: step.assigned, why: step.why });
    case 'bind':
      await keepForJob(db, { worker: podName, jobId: seen.jobId ?? 0 });
      events.workerKept(worker, 'GitHub says that a job runs on it');
      return done({ kept: 'a job runs on it', jobId: seen.jobId });
    case 'deregister':
      return deregister(parts, worker, attempt);
    case 'delete_pod':
      return deleteStoppedPod(parts, worker, seen, task);
    case 'end':
      return end(parts, worker);
    case 'wait':
      await noteStopHeldUp(db, podName, step.heldUp ? step.why : null);
      return snooze(step.forMs, step.why);
    default:
      return step satisfies never;
  }
}

async function keep(
  { db, events }: Stopping,
  worker: WorkerToStop,
  { isAssigned, why }: { isAssigned: boolean; why: string },
) {
  await keepWorker(db, worker.podName, { isAssigned });
  events.workerKept(worker, why);
  return done({ kept: why });
}

const RETRY_MS = 1_000;

async function deregister(
  parts: Stopping,
  worker: WorkerToStop,
  { seen, task, signal }: Attempt,
): Promise<Outcome> {
  const { db, events, stopRules } = parts;
  const { client, scope, runner } = seen;
  await examineBeforeEnd(parts, worker, seen, signal);
  if (!(await markDeregistering(db, worker.podName))) return snooze(RETRY_MS, CHANGED);
  if (scope !== undefined && runner !== undefined) {
    // A run that stood still may act on old evidence; the run that took over reads its own.
    requireTimeLeft(task);
    const result = await deleteRunner(client, scope, runner.id);
    if (result === 'busy')
      return keep(parts, worker, {
        isAssigned: true,
        why: 'GitHub refuses to remove its runner: it is busy',
      });
    events.runnerDeregistered(worker);
  }
  await markRegistrationsGone(db, [worker.podName]);
  return snooze(stopRules.lastLookMs, 'the last look at its log comes later');
}

/**
 * Examines the pod while it is there: the runner may end with its deregistration, and the pod soon
 * after.
 */
async function examineBeforeEnd(
  { db, cluster, events }: Stopping,
  worker: WorkerToStop,
  { pod }: Seen,
  signal: AbortSignal,
): Promise<void> {
  if (pod === undefined || worker.diagnosis !== null || !isExplainedByPod(worker.stopReason))
    return;
  const diagnosis = await examinePod(cluster, pod, worker.stopReason, signal);
  if (await keepDiagnosis(db, worker, diagnosis)) events.runnerUnseen(worker, diagnosis.message);
}

const CHANGED = 'the worker has changed meanwhile';
/**
 * How soon to check a pod that is being deleted. A runner that reads no signal ends within a
 * second.
 */
const DELETED_MS = 5_000;
/** Stop reasons that count against the pool: its image, its template, what it asks of a node. */
const COUNTED_AGAINST_POOL = new Set(['pending_timeout', 'not_registered']);

async function deleteStoppedPod(
  parts: Stopping,
  worker: WorkerToStop,
  { pod }: Seen,
  task: Task,
): Promise<Outcome> {
  const { db, cluster, events } = parts;
  if (pod === undefined || !(await mayStop(db, worker.podName))) return snooze(RETRY_MS, CHANGED);
  requireTimeLeft(task);
  const result = await deletePod(cluster, {
    ...placeOf(worker),
    uid: pod.uid,
    resourceVersion: pod.resourceVersion,
  });
  if (result === 'changed') return snooze(RETRY_MS, 'the pod has changed since it was read');
  if (result === 'deleted') {
    events.stoppedPodDeleted(worker);
    const { stopReason, diagnosis } = worker;
    if (stopReason !== null && COUNTED_AGAINST_POOL.has(stopReason)) {
      const message = `the runner ${worker.podName} never had a job: ${diagnosis ?? describeStop(stopReason)}`;
      await noteWorkerFailure(parts, {
        podName: worker.podName,
        failureClass: stopReason,
        message,
      });
    }
  }
  return snooze(DELETED_MS, 'its pod is being deleted');
}

async function end({ db, events }: Stopping, worker: WorkerToStop): Promise<Outcome> {
  const { podName, stopReason } = worker;
  const ended = await db.transaction().execute(async (trx) => {
    const isOver = await endStoppedWorker(trx, podName, {
      hadPod: worker.podUid !== null,
      message: describeStop(stopReason),
    });
    if (isOver) await enqueue(trx, [removeSecretTask(podName)]);
    return isOver;
  });
  if (!ended) return snooze(RETRY_MS, CHANGED);
  events.workerStopped(worker);
  return done({ ended: stopReason });
}
