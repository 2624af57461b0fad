import type { PodEvent } from './events.ts';

/** What a kubelet says when it gives a pull up for now. */
const GIVEN_UP = new Set(['Failed', 'BackOff', 'InspectFailed', 'ErrImageNeverPull']);

/**
 * Whether an image is being pulled for the pod, or has just come: its kubelet began a pull after the last one failed. The container's status
 * shows the failure before until the new pull ends, which may take minutes. Events tell whole seconds. A kubelet that has failed for one
 * container goes on to the next within the second, and to the same one only 10 s later. Pure.
 */
export function isPulling(events: readonly PodEvent[]): boolean {
  const kubelets = events.filter(({ source }) => source === 'kubelet');
  const failures = kubelets.filter(({ reason }) => GIVEN_UP.has(reason));
  const pulls = kubelets.filter(({ reason }) => reason === 'Pulling' || reason === 'Pulled');
  return pulls.some((pull) => failures.every((failure) => isAfter(pull, failure)));
}

function isAfter(pull: PodEvent, failure: PodEvent): boolean {
  if (pull.lastAt === undefined) return false;
  const apartMs = pull.lastAt.getTime() - (failure.lastAt?.getTime() ?? 0);
  return apartMs > 0 || (apartMs === 0 && pull.container !== failure.container);
}
