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
import { deletePod, findPod } from '@paddock/kube/pods';
import { enqueue } from '@paddock/queue/enqueue';
import { done, type Handler, type Outcome, poison, snooze, type Task } from '@paddock/queue/kind';
import { afterStopFailure, isGitHubs, isRefused } from './after-stop-failure.ts';
import { isExplainedByPod } from '../following/diagnosis.ts';
import { examinePod, keepDiagnosis } from '../following/examine-pod.ts';
import { type Recording, recordPods } from '../following/record-pods.ts';
import { requireTimeLeft } from '../task-run.ts';
import { placeOf, readEvidence, type ReadingEvidence, type StopAttempt } from './read-evidence.ts';

export interface Stopping extends ReadingEvidence, Recording {
  readonly reach: Reaches;
  readonly stopRules: StopRules;
}

interface Attempt extends Stopping, StopAttempt {
  readonly stopRules: StopRules;
  readonly task: Task;
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
    const { deliveryGuid: correlationId } = worker;
    const client = parts.github.asInstallation(worker, { signal, correlationId });
    const attempt: Attempt = { ...parts, worker, seen: { client }, task, signal };
    const evidence: StopEvidence = { worker: evidenceInRow(worker) };
    try {
      for (;;) {
        const step = nextStopStep(evidence, parts.stopRules);
        if (!('look' in step)) return await act(step, attempt);
        Object.assign(evidence, await readEvidence(step.look, attempt, evidence));
      }
    } catch (error) {
      signal.throwIfAborted();
      if (hasOutlived(evidence) && isRefused(error)) return end(attempt);
      if (isUnplaced(evidence) && isGitHubs(error)) return endUnplaced(attempt);
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

async function act(step: Act, attempt: Attempt): Promise<Outcome> {
  const { db, events, worker, seen } = attempt;
  switch (step.act) {
    case 'leave':
      return done({ left: step.why });
    case 'keep':
      return keep(attempt, step.assigned, step.why);
    case 'bind':
      await keepForJob(db, { worker: worker.podName, jobId: seen.jobId ?? 0 });
      events.workerKept(worker, 'GitHub says that a job runs on it');
      return done({ kept: 'a job runs on it', jobId: seen.jobId });
    case 'deregister':
      return deregister(attempt);
    case 'delete_pod':
      return deleteStoppedPod(attempt);
    case 'end':
      return end(attempt);
    case 'record':
      if (seen.pod !== undefined) await recordPods(attempt, [seen.pod]);
      return snooze(RETRY_MS, 'its pod has ended');
    case 'wait':
      await noteStopHeldUp(db, worker.podName, step.heldUp ? step.why : null);
      return snooze(step.forMs, step.why);
    default:
      return step satisfies never;
  }
}

async function keep({ db, events, worker }: Attempt, isAssigned: boolean, why: string) {
  await keepWorker(db, worker.podName, { isAssigned });
  if (isAssigned) await noteKeySuccess(db, worker.podName, 'assigned');
  events.workerKept(worker, why);
  return done({ kept: why });
}

const RETRY_MS = 1_000;

async function deregister(attempt: Attempt): Promise<Outcome> {
  const { db, events, stopRules, worker, seen, task } = attempt;
  const { client, scope, runner } = seen;
  await examineBeforeEnd(attempt);
  if (!(await markDeregistering(db, worker.podName))) return snooze(RETRY_MS, CHANGED);
  if (scope !== undefined && runner !== undefined) {
    // A run that stood still may act on old evidence; the run that took over reads its own.
    requireTimeLeft(task);
    const result = await deleteRunner(client, scope, runner.id);
    if (result === 'busy')
      return keep(attempt, true, 'GitHub refuses to remove its runner: it is busy');
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
async function examineBeforeEnd({ db, cluster, events, worker, seen, signal }: Attempt) {
  const { stopReason } = worker;
  if (seen.pod === undefined || worker.diagnosis !== null || !isExplainedByPod(stopReason)) return;
  const diagnosis = await examinePod(cluster, seen.pod, stopReason, signal);
  if (await keepDiagnosis(db, worker, diagnosis)) events.runnerUnseen(worker, diagnosis.message);
}

const CHANGED = 'the worker has changed meanwhile';
/**
 * How soon to check a pod that is being deleted. A runner that reads no signal ends within a
 * second.
 */
const DELETED_MS = 5_000;

async function deleteStoppedPod(attempt: Attempt): Promise<Outcome> {
  const { db, cluster, events, worker, seen, task } = attempt;
  const { pod } = seen;
  if (pod === undefined || !(await mayStop(db, worker.podName))) return snooze(RETRY_MS, CHANGED);
  // If a node has got it, or anything else has changed since it was read, it stays.
  requireTimeLeft(task);
  const result = await deletePod(cluster, {
    ...placeOf(worker),
    uid: pod.uid,
    resourceVersion: pod.resourceVersion,
  });
  if (result === 'changed') return snooze(RETRY_MS, 'the pod has changed since it was read');
  const isPlaced = pod.nodeName !== undefined;
  if (result === 'deleted') {
    events.stoppedPodDeleted(worker);
    await noteFailedStart(attempt, isPlaced);
  }
  const isGone = !isPlaced && (await findPod(cluster, placeOf(worker))) === undefined;
  return isGone ? end(attempt) : snooze(DELETED_MS, 'its pod is being deleted');
}

/** Counts the stop against the key, if its runner is at fault. That no node took the pod is not. */
async function noteFailedStart({ db, worker, failureRules }: Attempt, isPlaced: boolean) {
  const { podName, stopReason, diagnosis } = worker;
  if (stopReason !== 'not_registered' && !(stopReason === 'pending_timeout' && isPlaced)) return;
  const message = `the runner ${podName} never had a job: ${diagnosis ?? describeStop(stopReason)}`;
  await noteKeyFailure(db, { podName, failureClass: stopReason, message }, failureRules);
}

/** GitHub does not answer, and is not needed: its registration goes later, as that of a failed one. */
async function endUnplaced(attempt: Attempt): Promise<Outcome> {
  const isMarked = await markDeregistering(attempt.db, attempt.worker.podName);
  return isMarked ? deleteStoppedPod(attempt) : snooze(RETRY_MS, CHANGED);
}

async function end({ db, events, worker }: Attempt): Promise<Outcome> {
  const { podName, stopReason, deliveryGuid } = worker;
  const ended = await db.transaction().execute(async (trx) => {
    const isOver = await endStoppedWorker(trx, podName, {
      hadPod: worker.podUid !== null,
      message: describeStop(stopReason),
    });
    if (isOver) await enqueue(trx, [removeSecretTask(podName, deliveryGuid)]);
    return isOver;
  });
  if (!ended) return snooze(RETRY_MS, CHANGED);
  events.workerStopped(worker);
  return done({ ended: stopReason });
}
