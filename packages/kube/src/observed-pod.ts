import type { V1ContainerStatus, V1Pod, V1PodCondition } from '@kubernetes/client-node';
import type { WireJson } from './core-api.ts';
import { identityOf, type WorkerIdentity } from './labels.ts';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface ObservedContainer {
  readonly name: string;
  /** `unknown` before the kubelet's first report. */
  readonly state: 'waiting' | 'running' | 'terminated' | 'unknown';
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

export type ObservedCondition = WireJson<V1PodCondition>;

/** A pod, reduced from some 10 KB to the few hundred bytes that we use. */
export interface ObservedPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly phase: PodPhase;
  /** The runner's image. */
  readonly image?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly createdAt: Date;
  /** The earliest start of a main container; absent if none ever started. */
  readonly runningAt?: Date | undefined;
  /** When the last container ended, if the phase is Succeeded or Failed and the status says it. */
  readonly endedAt?: Date | undefined;
  readonly runner: ObservedContainer;
  /** When the runner's container started first, by its node; absent if it has not. */
  readonly runnerStartedAt?: Date | undefined;
  /** All containers: init containers first, the runner's included. */
  readonly containers: readonly ObservedContainer[];
  /** No main container runs or will run. Only then may the worker's row end. */
  readonly containersTerminated: boolean;
  /** Why a container cannot start, such as ImagePullBackOff; absent during a normal start. */
  readonly waitingReason?: string | undefined;
  readonly waitingMessage?: string | undefined;
  /** The Kubernetes scheduler's message if it finds no node. */
  readonly unschedulable?: string | undefined;
  /** Why the cluster ends the pod, such as EvictionByEvictionAPI. */
  readonly disruption?: string | undefined;
  /** The conditions that differ from a healthy pod's. */
  readonly conditions: readonly ObservedCondition[];
  readonly podReason?: string | undefined;
  readonly podMessage?: string | undefined;
  readonly deletionTimestamp?: Date | undefined;
  /** The grace period of the deletion. */
  readonly deletionGraceSeconds?: number | undefined;
  /** Read from our labels and annotations; absent if the pod is not ours. */
  readonly worker?: WorkerIdentity | undefined;
}

/** Reduces a pod of the API server. Pure. */
export function observePod(pod: WireJson<V1Pod>): ObservedPod {
  const { metadata = {}, spec, status = {} } = pod;
  const phase = PHASES.find((known) => known === status.phase) ?? 'Unknown';
  const ended = phase === 'Succeeded' || phase === 'Failed';
  const main = status.containerStatuses ?? [];
  const conditions = status.conditions ?? [];
  const containers = [...(status.initContainerStatuses ?? []), ...main].map(observeContainer);
  const declared = spec?.containers.length ?? 0;
  const terminated = main.filter(({ state }) => state?.terminated).length;
  // What the kubelet says during a normal start is no reason.
  const stuck = containers.find(
    ({ state, reason }) => state === 'waiting' && reason !== undefined && !STARTING.has(reason),
  );
  return {
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    phase,
    image: spec?.containers.find(isRunner)?.image,
    nodeName: spec?.nodeName,
    createdAt: instant(metadata.creationTimestamp) ?? new Date(0),
    runningAt:
      startOf(main) ??
      (phase === 'Running' || phase === 'Succeeded' ? instant(status.startTime) : undefined),
    endedAt: ended ? endOf(main, conditions) : undefined,
    runner: containers.find(isRunner) ?? { name: RUNNER_CONTAINER, state: 'unknown' },
    runnerStartedAt: startOf(main.filter(isRunner)),
    containers,
    containersTerminated:
      !main.some(({ state }) => state?.running) &&
      (ended || (declared > 0 && terminated === declared)),
    waitingReason: stuck?.reason,
    waitingMessage: stuck?.message,
    unschedulable: unschedulableMessage(conditions),
    disruption: conditionOf(conditions, 'DisruptionTarget', 'True')?.reason,
    conditions: conditions.filter(isBad),
    podReason: status.reason,
    podMessage: status.message,
    deletionTimestamp: instant(metadata.deletionTimestamp),
    deletionGraceSeconds: metadata.deletionGracePeriodSeconds,
    worker: identityOf(metadata),
  };
}

const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

const isRunner = ({ name }: { readonly name: string }): boolean => name === RUNNER_CONTAINER;

function observeContainer({ name, state }: WireJson<V1ContainerStatus>): ObservedContainer {
  const { terminated, running, waiting } = state ?? {};
  if (terminated) {
    const { exitCode, reason, message } = terminated;
    return { name, state: 'terminated', exitCode, reason, message };
  }
  if (running) return { name, state: 'running' };
  return waiting
    ? { name, state: 'waiting', reason: waiting.reason, message: waiting.message }
    : { name, state: 'unknown' };
}

const STARTING = new Set(['ContainerCreating', 'PodInitializing']);

function startOf(containers: readonly WireJson<V1ContainerStatus>[]): Date | undefined {
  const starts = containers.flatMap(({ state, lastState }) => [
    instant(state?.running?.startedAt),
    instant(state?.terminated?.startedAt),
    instant(lastState?.terminated?.startedAt),
  ]);
  return starts.filter((start) => start !== undefined).toSorted(byTime)[0];
}

function endOf(
  containers: readonly WireJson<V1ContainerStatus>[],
  conditions: Conditions,
): Date | undefined {
  const ends = containers.map(({ state }) => instant(state?.terminated?.finishedAt));
  const last = ends.filter((end) => end !== undefined).toSorted(byTime);
  // An evicted pod may have no container status. Its conditions changed when it ended.
  const changes = ['DisruptionTarget', 'Ready'].map((wanted) =>
    instant(conditions.find(({ type }) => type === wanted)?.lastTransitionTime),
  );
  return last.at(-1) ?? changes.find((change) => change !== undefined);
}

type Conditions = readonly ObservedCondition[];

const conditionOf = (conditions: Conditions, wanted: string, is: string) =>
  conditions.find(({ type, status }) => type === wanted && status === is);

/** Whether a condition differs from a healthy pod's. */
const isBad = ({ type, status }: ObservedCondition): boolean =>
  (status !== 'True') !== (type === 'DisruptionTarget');

/** A scheduling gate holds a pod until a quota has room, which is also a lack of room. */
const NOT_SCHEDULED = new Set(['Unschedulable', 'SchedulingGated']);

function unschedulableMessage(conditions: Conditions): string | undefined {
  const waits = conditionOf(conditions, 'PodScheduled', 'False');
  return waits?.reason !== undefined && NOT_SCHEDULED.has(waits.reason)
    ? (waits.message ?? 'no node fits')
    : undefined;
}

const byTime = (a: Date, b: Date): number => a.getTime() - b.getTime();

/** The API server sends `null` for instants that a kubelet never learned. */
function instant(at: string | Date | null | undefined): Date | undefined {
  if (at === undefined || at === null) return undefined;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
