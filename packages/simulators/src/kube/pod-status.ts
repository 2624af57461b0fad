import {
  timestamp,
  type Condition,
  type ContainerState,
  type ContainerStatus,
  type Pod,
  type PodStatus,
  asPod,
} from './api-object.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * How a pod's process may end; the annotation `test.paddock/end` chooses. `drained`: evicted in an
 * orderly way, and its process ended well after the request.
 */
export const ENDS = ['succeeded', 'failed', 'oom', 'evicted', 'drained', 'node-lost'] as const;
export type End = (typeof ENDS)[number];

export interface PlayedEnd {
  readonly end: End;
  readonly exitCode: number;
  /** The process' termination message. */
  readonly message?: string;
}

/** Pure: the status that a kubelet reports at each step of a pod's life. */
export function waitingStatus(pod: Pod, now: Date, reason: string, message?: string): PodStatus {
  const waiting = { reason, ...(message === undefined ? {} : { message }) };
  return {
    ...pod.status,
    phase: 'Pending',
    startTime: pod.status.startTime ?? timestamp(now),
    conditions: conditions(now, false, 'ContainersNotReady'),
    containerStatuses: containerStatuses(pod, () => ({ waiting })),
  };
}

export function runningStatus(pod: Pod, now: Date): PodStatus {
  return {
    ...pod.status,
    phase: 'Running',
    startTime: pod.status.startTime ?? timestamp(now),
    conditions: conditions(now, true),
    containerStatuses: containerStatuses(pod, () => ({ running: { startedAt: timestamp(now) } })),
  };
}

export function unschedulableStatus(pod: Pod, now: Date): PodStatus {
  const message = '0/1 nodes are available: 1 Insufficient cpu.';
  const condition = {
    type: 'PodScheduled',
    status: 'False' as const,
    lastTransitionTime: timestamp(now),
    reason: 'Unschedulable',
    message,
  };
  return { ...pod.status, phase: 'Pending', conditions: [condition] };
}

/**
 * The control plane marks a lost node's pods as Failed. Their containers still look as if they ran.
 */
export function endedStatus(pod: Pod, now: Date, { end, exitCode, message }: PlayedEnd): PodStatus {
  const phase = endsWell(end) ? 'Succeeded' : 'Failed';
  const ended = {
    ...pod.status,
    phase,
    conditions: [...conditions(now, false, 'PodCompleted'), ...disruption(now, end)],
  };
  if (end === 'node-lost')
    return { ...ended, reason: 'NodeLost', message: 'Node sim-node is lost.' };
  const statuses = containerStatuses(pod, ({ running }) => ({
    terminated: {
      exitCode,
      reason: reasonOf(end),
      ...(message === undefined ? {} : { message }),
      startedAt: running?.startedAt ?? timestamp(now),
      finishedAt: timestamp(now),
    },
  }));
  const why =
    end === 'evicted'
      ? { reason: 'Evicted', message: 'The node was low on resource: memory.' }
      : {};
  return { ...ended, ...why, containerStatuses: statuses };
}

/** One container has ended as `ended` says, and the pod's others go on. */
export function onlyOneEnded(pod: Pod, ended: PodStatus, name: string): PodStatus {
  const before = pod.status.containerStatuses ?? [];
  const after = ended.containerStatuses ?? [];
  return {
    ...pod.status,
    conditions: ended.conditions ?? [],
    containerStatuses: before.map((status) =>
      status.name === name ? (after.find((each) => each.name === name) ?? status) : status,
    ),
  };
}

export function exitCodeOf(end: End, asked: string | undefined): number {
  switch (end) {
    case 'succeeded':
    case 'drained':
      return 0;
    case 'failed':
      return Number(asked ?? 1);
    case 'oom':
    case 'evicted':
    case 'node-lost':
      return 137;
    default:
      return end satisfies never;
  }
}

const endsWell = (end: End): boolean => end === 'succeeded' || end === 'drained';

function reasonOf(end: End): string {
  if (endsWell(end)) return 'Completed';
  return end === 'oom' ? 'OOMKilled' : 'Error';
}

function disruption(now: Date, end: End): Condition[] {
  if (end !== 'drained') return [];
  return [
    {
      type: 'DisruptionTarget',
      status: 'True',
      lastTransitionTime: timestamp(now),
      reason: 'EvictionByEvictionAPI',
    },
  ];
}

function conditions(now: Date, ready: boolean, reason?: string): Condition[] {
  const lastTransitionTime = timestamp(now);
  const why = reason === undefined ? {} : { reason };
  const status = ready ? 'True' : 'False';
  return [
    { type: 'PodScheduled', status: 'True', lastTransitionTime },
    { type: 'Initialized', status: 'True', lastTransitionTime },
    { type: 'Ready', status, lastTransitionTime, ...why },
    { type: 'ContainersReady', status, lastTransitionTime, ...why },
  ];
}

function containerStatuses(
  pod: Pod,
  next: (state: ContainerState) => ContainerState,
): ContainerStatus[] {
  return pod.spec.containers.map(({ name, image }) => {
    const state = next(
      pod.status.containerStatuses?.find((status) => status.name === name)?.state ?? {},
    );
    const running = state.running !== undefined;
    return { name, image, imageID: '', ready: running, started: running, restartCount: 0, state };
  });
}

/** The present state of the pod. */
export function current(store: ObjectStore, { metadata }: Pod): Pod {
  const pod = store.get('pods', metadata.namespace, metadata.name);
  return asPod(pod);
}

/** Replaces the pod's status by the result of `status` for the present pod. */
export function reportStatus(
  store: ObjectStore,
  pod: Pod,
  status: (current: Pod, now: Date) => PodStatus,
): void {
  const now = current(store, pod);
  store.replace('pods', { ...now, status: status(now, new Date()) });
}

/** Writes an event of the scheduler or the kubelet about the pod. */
export function tell(
  store: ObjectStore,
  { metadata, kind }: Pod,
  type: string,
  reason: string,
  message: string,
): void {
  const { name, namespace, uid } = metadata;
  const at = timestamp(new Date());
  store.create('events', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name}.${store.revision().toString(16)}`,
      ...(namespace === undefined ? {} : { namespace }),
      uid: crypto.randomUUID(),
      resourceVersion: '',
      creationTimestamp: at,
    },
    involvedObject: { kind, name, namespace, uid },
    type,
    reason,
    message,
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
    source: { component: reason.includes('chedul') ? 'default-scheduler' : 'kubelet' },
  });
}
