import { adoptWorkers, type PodToAdopt } from '@paddock/db/workers/registrations';
import { isBadData } from '@paddock/db/connection/errors';
import type { Trx } from '@paddock/db/schema/tables';
import {
  type PodState,
  type PodTransition,
  type RecordedPods,
  recordPodStates,
} from '@paddock/db/workers/worker-pods';
import { lookUpJobsTask } from '@paddock/domain/tasks/sweep-names';
import { diagnoseTask, removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import { isWorkerName } from '@paddock/domain/workers/worker-name';
import { podSays } from '@paddock/domain/workers/may-end';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { podFailure } from '@paddock/kube/pod-failure';
import { enqueue } from '@paddock/queue/enqueue';
import type { SchedulerEvents } from '../events.ts';
import { noteHealth, type NotingFailures } from './note-health.ts';
import { hideSecrets } from '@paddock/domain/text/hide-secrets';

export interface Recording extends NotingFailures {
  readonly events: SchedulerEvents;
  /** How long an unexplained end stands against one waiting job. */
  readonly unexplainedGraceMs: number;
}

/**
 * Saves the state of pods in their workers' rows, and in the same transaction what follows: an
 * ended worker's Secret goes, a failed or stuck pod is diagnosed. Uses one statement if nothing
 * follows, because it locks rows that provisioning writes. Adopts pods without a row; `withoutRow`
 * names those that it could not adopt. Skips only the pod whose state PostgreSQL cannot store.
 */
export async function recordPods(
  parts: Recording,
  pods: readonly ObservedPod[],
): Promise<{ withoutRow: readonly string[] }> {
  if (pods.length === 0) return { withoutRow: [] };
  try {
    return await recordTogether(parts, pods);
  } catch (error) {
    if (!isBadData(error)) throw error;
    const [only] = pods;
    if (pods.length === 1 && only !== undefined) {
      parts.events.podNotRecorded(only, error);
      return { withoutRow: [] };
    }
    const middle = Math.ceil(pods.length / 2);
    const halves = [
      await recordPods(parts, pods.slice(0, middle)),
      await recordPods(parts, pods.slice(middle)),
    ];
    return { withoutRow: halves.flatMap(({ withoutRow }) => withoutRow) };
  }
}

async function recordTogether(
  parts: Recording,
  pods: readonly ObservedPod[],
): Promise<{ withoutRow: readonly string[] }> {
  const { db, unexplainedGraceMs, events } = parts;
  const states = pods.map(podState);
  const { changed, unknown } = states.some(
    ({ phase, stuckReason }) => phase === 'succeeded' || phase === 'failed' || stuckReason !== null,
  )
    ? await db.transaction().execute((trx) => recordWithFollowUps(trx, states, unexplainedGraceMs))
    : await recordPodStates(db, states, unexplainedGraceMs);
  for (const transition of changed) {
    events.podChanged(transition);
    await noteHealth(parts, transition);
  }
  if (unknown.length === 0) return { withoutRow: [] };
  const names = new Set(unknown);
  return adoptPods(
    parts,
    pods.filter(({ name }) => names.has(name)),
  );
}

/**
 * Gives pods rows and saves their state at once, ends included. An old end does not count for or
 * against the pool. It is unexplained like any other: after a restore, such a pod may have run a
 * job that seems to wait.
 */
async function adoptPods(
  { db, events, unexplainedGraceMs }: Recording,
  pods: readonly ObservedPod[],
): Promise<{ withoutRow: string[] }> {
  const read = pods.map((pod) => ({
    name: pod.name,
    worker: podToAdopt(pod),
    state: podState(pod),
  }));
  const readable = read.flatMap(({ worker, state }) =>
    worker === undefined ? [] : [{ worker, state }],
  );
  const { adopted, changed, unknown } = await db.transaction().execute(async (trx) => {
    const names = await adoptWorkers(
      trx,
      readable.map(({ worker }) => worker),
    );
    const states = readable.map(({ state }) => state);
    return {
      adopted: new Set(names),
      ...(await recordWithFollowUps(trx, states, unexplainedGraceMs, followUps)),
    };
  });
  for (const { worker } of readable) if (adopted.has(worker.podName)) events.podAdopted(worker);
  for (const transition of changed) events.podChanged(transition);
  return {
    withoutRow: [
      ...unknown,
      ...read.filter(({ worker }) => worker === undefined).map(({ name }) => name),
    ],
  };
}

/**
 * The worker that a pod's labels and name describe. Undefined if the labels cannot be read, or if
 * the name is not ours, such as that of a copy made for debugging.
 */
function podToAdopt(pod: ObservedPod): PodToAdopt | undefined {
  const { worker } = pod;
  if (worker === undefined || !isWorkerName(pod.name, worker.instance)) return undefined;
  return {
    podName: pod.name,
    podUid: pod.uid,
    podCreatedAt: pod.createdAt,
    namespace: pod.namespace,
    pool: worker.pool,
    image: pod.image ?? null,
    entityId: worker.entityId,
    scopeRepoId: worker.scopeRepoId,
    madeForJobId: worker.madeForJobId ?? null,
    deliveryGuid: worker.deliveryGuid ?? null,
    entityType: worker.entity?.type ?? null,
    entityName: worker.entity?.name ?? null,
    appId: worker.entity?.appId ?? null,
    installationId: worker.entity?.installationId ?? null,
    repoFullName: worker.entity?.repoFullName ?? null,
  };
}

async function recordWithFollowUps(
  trx: Trx,
  states: Parameters<typeof recordPodStates>[1],
  unexplainedGraceMs: number,
  following: typeof followUps = followUpsOfSeen,
): Promise<RecordedPods> {
  const recorded = await recordPodStates(trx, states, unexplainedGraceMs);
  await enqueue(trx, recorded.changed.flatMap(following));
  return recorded;
}

/**
 * A runner whose version GitHub no longer serves ends well and without a job: only its log shows
 * it.
 */
const followUpsOfSeen = (transition: PodTransition) => [
  ...followUps(transition),
  ...(transition.status === 'completed' && transition.unexplained
    ? [diagnoseTask(transition.podName, transition.deliveryGuid)]
    : []),
];

/**
 * Looks up at once the jobs that an unexplained end may have run: until GitHub answers, the end
 * stands against one of them.
 */
function followUps(transition: PodTransition) {
  const { podName, deliveryGuid, status, unexplained, wasStopped, newlyStuck } = transition;
  switch (status) {
    case 'pending':
    case 'running':
      return newlyStuck === null ? [] : [diagnoseTask(podName, deliveryGuid)];
    case 'completed':
    case 'failed':
      return [
        removeSecretTask(podName, deliveryGuid),
        ...(unexplained ? [lookUpJobsTask] : []),
        ...(status === 'failed' && !wasStopped ? [diagnoseTask(podName, deliveryGuid)] : []),
      ];
    default:
      return status satisfies never;
  }
}

/**
 * The state of a worker, read from its pod. Succeeded and Failed count as an end only when no
 * container runs: a pod on a lost node may say Failed while its runner still works.
 */
export function podState(pod: ObservedPod): PodState {
  const failure = podFailure(pod);
  const phase = phaseOf(pod);
  return {
    podName: pod.name,
    podUid: pod.uid,
    podCreatedAt: pod.createdAt,
    node: pod.nodeName ?? null,
    phase,
    runningAt: pod.runningAt ?? null,
    endedAt: pod.endedAt ?? null,
    exitCode: pod.runner.exitCode ?? null,
    isRunnerOver: pod.runner.state === 'terminated' && !pod.containersTerminated,
    isUnschedulable: pod.phase === 'Pending' && pod.unschedulable !== undefined,
    terminatingAt: pod.deletionTimestamp ?? null,
    terminatingSeconds: pod.deletionGraceSeconds ?? null,
    stuckReason: phase === 'pending' ? (failure?.reason ?? null) : null,
    failureReason: pod.phase === 'Failed' ? (failure?.reason ?? null) : null,
    endedBy: phase === 'succeeded' ? (failure?.reason ?? null) : null,
    // The message may end with text that a container wrote.
    message: failure === undefined ? null : hideSecrets(failure.message),
  };
}

function phaseOf(pod: ObservedPod): PodState['phase'] {
  switch (pod.phase) {
    case 'Pending':
      return 'pending';
    case 'Running':
      return 'running';
    case 'Unknown':
    case 'Succeeded':
    case 'Failed':
      if (podSays(pod) === 'ended') return pod.phase === 'Succeeded' ? 'succeeded' : 'failed';
      return pod.runningAt === undefined ? 'pending' : 'running';
    default:
      return pod.phase satisfies never;
  }
}
