import type {
  V1ContainerStatus,
  V1Pod,
  V1PodCondition,
  V1PodStatus,
} from '@kubernetes/client-node';
import type { WireJson } from './wire-json.ts';
import { identityOf, type WorkerIdentity } from './labels.ts';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface ObservedContainer {
  readonly name: string;
  /** `unknown` before the kubelet's first report. */
  readonly state: 'waiting' | 'running' | 'terminated' | 'unknown';
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}

export interface ObservedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A pod, reduced from some 10 KB to the few hundred bytes that we use. */
export interface ObservedPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly phase: PodPhase;
  /** The runner's image. */
  readonly image?: string;
  readonly nodeName?: string;
  readonly createdAt: Date;
  /** The earliest start of a main container; absent if none ever started. */
  readonly runningAt?: Date;
  /** When the last container ended, if the phase is Succeeded or Failed and the status says it. */
  readonly endedAt?: Date;
  readonly runner: ObservedContainer;
  /** When the runner's container started first, by its node; absent if it has not. */
  readonly runnerStartedAt?: Date;
  /** All containers: init containers first, the runner's included. */
  readonly containers: readonly ObservedContainer[];
  /** No main container runs or will run. Only then may the worker's row end. */
  readonly containersTerminated: boolean;
  /** Why a container cannot start, such as ImagePullBackOff; absent during a normal start. */
  readonly waitingReason?: string;
  readonly waitingMessage?: string;
  /** The Kubernetes scheduler's message if it finds no node. */
  readonly unschedulable?: string;
  /** Why the cluster ends the pod, such as EvictionByEvictionAPI. */
  readonly disruption?: string;
  /** The conditions that differ from a healthy pod's. */
  readonly conditions?: readonly ObservedCondition[];
  readonly podReason?: string;
  readonly podMessage?: string;
  readonly deletionTimestamp?: Date;
  /** The grace period of the deletion. */
  readonly deletionGraceSeconds?: number;
  /** Read from our labels and annotations; absent if the pod is not ours. */
  readonly worker?: WorkerIdentity;
}

/** Reduces a pod of the API server. Pure. */
export function observePod(pod: WireJson<V1Pod>): ObservedPod {
  const { metadata = {}, spec, status = {} } = pod;
  const phase = phaseOf(status);
  const ended = phase === 'Succeeded' || phase === 'Failed';
  const main = status.containerStatuses ?? [];
  const containers = [...(status.initContainerStatuses ?? []), ...main].map(observeContainer);
  const runner = containers.find((container) => container.name === RUNNER_CONTAINER);
  const declared = spec?.containers.length ?? 0;
  return {
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    phase,
    createdAt: instant(metadata.creationTimestamp) ?? new Date(0),
    runner: runner ?? { name: RUNNER_CONTAINER, state: 'unknown' },
    ...present('runnerStartedAt', startOf(main.filter(({ name }) => name === RUNNER_CONTAINER))),
    containers,
    containersTerminated:
      !main.some((container) => container.state?.running) &&
      (ended ||
        (declared > 0 &&
          main.filter((container) => container.state?.terminated).length === declared)),
    ...present('image', spec?.containers.find(({ name }) => name === RUNNER_CONTAINER)?.image),
    ...present('nodeName', spec?.nodeName),
    ...present(
      'runningAt',
      startOf(main) ??
        (phase === 'Running' || phase === 'Succeeded' ? instant(status.startTime) : undefined),
    ),
    ...present('endedAt', ended ? endOf(status) : undefined),
    ...waitingOf(containers),
    ...present('unschedulable', unschedulableMessage(status.conditions ?? [])),
    ...present(
      'disruption',
      conditionOf(status.conditions ?? [], 'DisruptionTarget', 'True')?.reason,
    ),
    ...conditionsOf(status.conditions ?? []),
    ...present('podReason', status.reason),
    ...present('podMessage', status.message),
    ...present('deletionTimestamp', instant(metadata.deletionTimestamp)),
    ...present('deletionGraceSeconds', metadata.deletionGracePeriodSeconds),
    ...present('worker', identityOf(metadata)),
  };
}

const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function phaseOf({ phase }: WireJson<V1PodStatus>): PodPhase {
  return PHASES.find((known) => known === phase) ?? 'Pending';
}

function observeContainer({ name, state }: WireJson<V1ContainerStatus>): ObservedContainer {
  if (state?.terminated) {
    const { exitCode, reason, message } = state.terminated;
    return {
      name,
      state: 'terminated',
      exitCode,
      ...present('reason', reason),
      ...present('message', message),
    };
  }
  if (state?.running) return { name, state: 'running' };
  if (state?.waiting) {
    const { reason, message } = state.waiting;
    return { name, state: 'waiting', ...present('reason', reason), ...present('message', message) };
  }
  return { name, state: 'unknown' };
}

/** The kubelet's reasons during a normal start. */
const STARTING = new Set(['ContainerCreating', 'PodInitializing']);

function waitingOf(containers: readonly ObservedContainer[]): {
  waitingReason?: string;
  waitingMessage?: string;
} {
  const stuck = containers.find(
    ({ state, reason }) => state === 'waiting' && reason !== undefined && !STARTING.has(reason),
  );
  return stuck === undefined
    ? {}
    : { ...present('waitingReason', stuck.reason), ...present('waitingMessage', stuck.message) };
}

function startOf(containers: readonly WireJson<V1ContainerStatus>[]): Date | undefined {
  const starts = containers.flatMap(({ state, lastState }) => [
    instant(state?.running?.startedAt),
    instant(state?.terminated?.startedAt),
    instant(lastState?.terminated?.startedAt),
  ]);
  return starts.filter((start) => start !== undefined).toSorted(byTime)[0];
}

function endOf(status: WireJson<V1PodStatus>): Date | undefined {
  const ends = (status.containerStatuses ?? []).map(({ state }) =>
    instant(state?.terminated?.finishedAt),
  );
  const last = ends
    .filter((end) => end !== undefined)
    .toSorted(byTime)
    .at(-1);
  // An evicted pod may have no container status. Its conditions changed when it ended.
  return (
    last ??
    changeOf(status.conditions ?? [], 'DisruptionTarget') ??
    changeOf(status.conditions ?? [], 'Ready')
  );
}

function changeOf(conditions: readonly WireJson<V1PodCondition>[], type: string): Date | undefined {
  return instant(conditions.find((condition) => condition.type === type)?.lastTransitionTime);
}

const conditionOf = (
  conditions: readonly WireJson<V1PodCondition>[],
  wanted: string,
  status: string,
) => conditions.find((condition) => condition.type === wanted && condition.status === status);

function conditionsOf(conditions: readonly WireJson<V1PodCondition>[]): {
  conditions?: ObservedCondition[];
} {
  const bad = conditions.filter(
    ({ type, status }) => (status !== 'True') !== (type === 'DisruptionTarget'),
  );
  if (bad.length === 0) return {};
  return {
    conditions: bad.map(({ type, status, reason, message }) =>
      Object.assign({ type, status }, present('reason', reason), present('message', message)),
    ),
  };
}

/** A scheduling gate holds a pod until a quota has room, which is also a lack of room. */
const NOT_SCHEDULED = new Set(['Unschedulable', 'SchedulingGated']);

function unschedulableMessage(conditions: readonly WireJson<V1PodCondition>[]): string | undefined {
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

/** `{ key: value }`, or `{}` for an absent value, so that no object holds `undefined`. */
function present<K extends string, V>(key: K, value: V | null | undefined): { [P in K]?: V } {
  return value === undefined || value === null ? {} : ({ [key]: value } as { [P in K]: V });
}
