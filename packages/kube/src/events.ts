import type { CoreV1Event } from '@kubernetes/client-node';
import type { Cluster } from './connect.ts';
import { coreApi } from './core-api.ts';
import type { ObjectName } from './pods.ts';

export interface PodEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt?: Date;
  readonly lastAt?: Date;
  /** The reporter, such as `kubelet` or `default-scheduler`. */
  readonly source: string;
  /** The container concerned, if any. */
  readonly container?: string;
}

/** The cluster keeps events for an hour. More than this add nothing. */
const MOST_EVENTS = 100;

/** The events about one pod, oldest first. Throws KubeError. */
export async function podEvents(
  cluster: Cluster,
  { namespace, name, uid }: ObjectName & { uid?: string | undefined },
  signal?: AbortSignal,
): Promise<PodEvent[]> {
  const selectors = [
    'involvedObject.kind=Pod',
    `involvedObject.name=${name}`,
    ...(uid === undefined ? [] : [`involvedObject.uid=${uid}`]),
  ];
  const { items } = await coreApi(cluster, { signal }).listNamespacedEvent({
    namespace,
    fieldSelector: selectors.join(','),
    limit: MOST_EVENTS,
  });
  return items
    .map(observeEvent)
    .toSorted((a, b) => (a.lastAt?.getTime() ?? 0) - (b.lastAt?.getTime() ?? 0));
}

/** `spec.initContainers{prepare}` */
const OF_CONTAINER = /\{(.+)\}$/;

function observeEvent(event: CoreV1Event): PodEvent {
  // Older reporters write the timestamps and the count, newer ones eventTime and a series.
  const first = event.firstTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
  const last = event.series?.lastObservedTime ?? event.lastTimestamp ?? first;
  const container = OF_CONTAINER.exec(event.involvedObject?.fieldPath ?? '')?.[1];
  return {
    type: event.type ?? 'Normal',
    reason: event.reason ?? '',
    message: event.message ?? '',
    count: event.series?.count ?? event.count ?? 1,
    source: event.source?.component ?? event.reportingComponent ?? '',
    ...(first ? { firstAt: new Date(first) } : {}),
    ...(last ? { lastAt: new Date(last) } : {}),
    ...(container === undefined ? {} : { container }),
  };
}

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
