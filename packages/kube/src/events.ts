import type { CoreV1Event } from '@kubernetes/client-node';
import type { AsSent } from './as-sent.ts';
import { callJson, objectPath } from './call.ts';
import type { Cluster } from './connect.ts';
import { isRecord, KubeError } from './errors.ts';
import type { ObjectName } from './pods.ts';

export interface PodEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt?: Date;
  readonly lastAt?: Date;
  /** Who says it, such as `kubelet` or `default-scheduler`. */
  readonly source: string;
  /** The container that it is about, if it is about one. */
  readonly container?: string;
}

/** The cluster keeps events for an hour; more than this many tell nothing new. */
const MOST_EVENTS = 100;

/** The events about one pod, oldest first. Throws KubeError. */
export async function podEvents(
  cluster: Cluster,
  { namespace, name, uid }: ObjectName & { uid?: string | undefined },
  signal?: AbortSignal,
): Promise<PodEvent[]> {
  const selectors = ['involvedObject.kind=Pod', `involvedObject.name=${name}`, ...(uid === undefined ? [] : [`involvedObject.uid=${uid}`])];
  const query = { fieldSelector: selectors.join(','), limit: MOST_EVENTS };
  const answer = await callJson(cluster, { method: 'GET', path: objectPath(namespace, 'events'), query, signal });
  return readEvents(answer)
    .map(observeEvent)
    .toSorted((a, b) => (a.lastAt?.getTime() ?? 0) - (b.lastAt?.getTime() ?? 0));
}

/** `spec.initContainers{prepare}` */
const OF_CONTAINER = /\{(.+)\}$/;

function observeEvent(event: AsSent<CoreV1Event>): PodEvent {
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

function readEvents(value: unknown): AsSent<CoreV1Event>[] {
  if (!isRecord(value) || !Array.isArray(value['items'])) {
    throw new KubeError({ kind: 'unavailable', message: 'The answer to a list of events is no EventList.' });
  }
  return value['items'] as AsSent<CoreV1Event>[];
}
