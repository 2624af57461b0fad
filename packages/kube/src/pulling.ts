import type { PodEvent } from './events.ts';

/** What a kubelet says when it gives a pull up for now. */
const GIVEN_UP = new Set(['Failed', 'BackOff', 'InspectFailed', 'ErrImageNeverPull']);

/**
 * Whether an image is being pulled for the pod, or has just come: its kubelet began a pull after the last one failed. The container's status
 * shows the failure before until the new pull ends, which may take minutes. Pure.
 */
export function isPulling(events: readonly PodEvent[]): boolean {
  const kubelets = events.filter(({ source }) => source === 'kubelet');
  const began = latest(kubelets.filter(({ reason }) => reason === 'Pulling' || reason === 'Pulled'));
  return began !== undefined && began > (latest(kubelets.filter(({ reason }) => GIVEN_UP.has(reason))) ?? 0);
}

function latest(events: readonly PodEvent[]): number | undefined {
  const instants = events.flatMap(({ lastAt }) => (lastAt === undefined ? [] : [lastAt.getTime()]));
  return instants.length === 0 ? undefined : Math.max(...instants);
}
