import { asPod, type Pod, type PodStatus, timestamp } from './api-object.ts';
import type { ObjectStore } from './object-store.ts';

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
