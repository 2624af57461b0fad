import type { PodEvent } from './events.ts';

/** The kubelet's reasons after a failed pull. */
const GIVEN_UP = new Set(['Failed', 'BackOff', 'InspectFailed', 'ErrImageNeverPull']);

/**
 * Whether the kubelet began a pull after the last failed one. The container's status shows the old
 * failure until the new pull ends, which may take minutes. Events have whole seconds. After a
 * failure the kubelet tries the next container within the second, and the same one only 10 s later.
 * Pure.
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
