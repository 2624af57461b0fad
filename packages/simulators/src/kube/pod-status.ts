import { timestamp, type Condition, type ContainerState, type ContainerStatus, type Pod, type PodStatus } from './api-object.ts';

/** How a pod's process may end, as the annotation `test.paddock/end` asks for it. */
export const ENDS = ['succeeded', 'failed', 'oom', 'evicted', 'node-lost'] as const;
export type End = (typeof ENDS)[number];

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

/** A lost node's pods are marked Failed by the control plane: their containers still look as if they ran. */
export function endedStatus(pod: Pod, now: Date, end: End, exitCode: number): PodStatus {
  const ended = { ...pod.status, phase: end === 'succeeded' ? 'Succeeded' : 'Failed', conditions: conditions(now, false, 'PodCompleted') };
  if (end === 'node-lost') return { ...ended, reason: 'NodeLost', message: 'Node sim-node is lost.' };
  const statuses = containerStatuses(pod, ({ running }) => ({
    terminated: { exitCode, reason: reasonOf(end), startedAt: running?.startedAt ?? timestamp(now), finishedAt: timestamp(now) },
  }));
  const why = end === 'evicted' ? { reason: 'Evicted', message: 'The node was low on resource: memory.' } : {};
  return { ...ended, ...why, containerStatuses: statuses };
}

export function exitCodeOf(end: End, asked: string | undefined): number {
  switch (end) {
    case 'succeeded':
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

function reasonOf(end: End): string {
  if (end === 'succeeded') return 'Completed';
  return end === 'oom' ? 'OOMKilled' : 'Error';
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

function containerStatuses(pod: Pod, next: (state: ContainerState) => ContainerState): ContainerStatus[] {
  return pod.spec.containers.map(({ name, image }) => {
    const state = next(pod.status.containerStatuses?.find((status) => status.name === name)?.state ?? {});
    const running = state.running !== undefined;
    return { name, image, imageID: '', ready: running, started: running, restartCount: 0, state };
  });
}
