import { noteKeyFailure, noteKeySuccess } from '@paddock/db/workers/failing-keys';
import type { Reaches } from '@paddock/db/outages';
import {
  endStoppedWorker,
  findWorkerToStop,
  keepForJob,
  keepWorker,
  markDeregistered,
  markDeregistering,
  mayStop,
  noteStopHeldUp,
  type WorkerToStop,
} from '@paddock/db/workers/stopping-workers';
import { describeStop } from '@paddock/domain/workers/stop-reasons';
import {
  hasOutlived,
  isUnplaced,
  nextStopStep,
  type StopEvidence,
  type StopRules,
  type StopStep,
} from '@paddock/domain/workers/stop-steps';
import { removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import { deleteRunner } from '@paddock/github/runners';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { deletePod, findPod } from '@paddock/kube/pods';
import { enqueue } from '@paddock/queue/enqueue';
import type { Handler, Task } from '@paddock/queue/kind';
import { done, type Outcome, poison, snooze } from '@paddock/queue/outcome';
import { afterStopFailure, isGitHubs, isRefused } from './after-stop-failure.ts';
import type { SchedulerEvents } from '../events.ts';
import { isExplainedByPod } from '../following/diagnosis.ts';
import { examinePod, keepDiagnosis } from '../following/examine-pod.ts';
import type { NotingFailures } from '../following/note-health.ts';
import { requireTimeLeft } from '../task-run.ts';
import { placeOf, readEvidence, type ReadingEvidence, type Seen } from './read-evidence.ts';

export interface Stopping extends ReadingEvidence, NotingFailures {
  readonly reach: Reaches;
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
      if (isUnplaced(evidence) && isGitHubs(error)) return endUnplaced(parts, worker, seen, task);
      return afterStopFailure(parts, worker, error);
    }
  };
}

function evidenceInRow(worker: WorkerToStop): StopEvidence['worker'] {
  const { status, podUid, stopReason } = worker;
  return {
    ...worker,
    hasEnded: status === 'completed' || status === 'failed',
    hadPod: podUid !== null,
    reason: stopReason,
    // Readings of earlier attempts do not count: an attempt that needs one takes it.
    idleForMs: null,
    offlineForMs: null,
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
  if (isAssigned) await noteKeySuccess(db, worker.podName, 'assigned');
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
  await markDeregistered(db, worker.podName);
  const isPlaced = seen.pod?.nodeName !== undefined;
  return snooze(isPlaced ? stopRules.lastLookMs : RETRY_MS, 'the last look at its pod comes later');
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
/** Stop reasons that count against the key. A pod that no node took is no failure of its key. */
const isCounted = (reason: string, { nodeName }: ObservedPod): boolean =>
  reason === 'not_registered' || (reason === 'pending_timeout' && nodeName !== undefined);

async function deleteStoppedPod(
  parts: Stopping,
  worker: WorkerToStop,
  { pod }: Seen,
  task: Task,
): Promise<Outcome> {
  const { db, cluster, events } = parts;
  if (pod === undefined || !(await mayStop(db, worker.podName))) return snooze(RETRY_MS, CHANGED);
  // If a node has got it, or anything else has changed since it was read, it stays.
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
    if (stopReason !== null && isCounted(stopReason, pod)) {
      const message = `the runner ${worker.podName} never had a job: ${diagnosis ?? describeStop(stopReason)}`;
      const failure = { podName: worker.podName, failureClass: stopReason, message };
      await noteKeyFailure(db, failure, parts.failureRules);
    }
  }
  const isGone =
    pod.nodeName === undefined && (await findPod(cluster, placeOf(worker))) === undefined;
  return isGone ? end(parts, worker) : snooze(DELETED_MS, 'its pod is being deleted');
}

/** GitHub does not answer, and is not needed: its registration goes later, as that of a failed one. */
async function endUnplaced(
  parts: Stopping,
  worker: WorkerToStop,
  seen: Seen,
  task: Task,
): Promise<Outcome> {
  if (!(await markDeregistering(parts.db, worker.podName))) return snooze(RETRY_MS, CHANGED);
  return deleteStoppedPod(parts, worker, seen, task);
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
