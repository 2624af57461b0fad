import { conflict } from './api-failure.ts';
import {
  asPod,
  isRecord,
  timestamp,
  type ApiObject,
  type OwnerReference,
  type Resource,
} from './api-object.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * Deletes as the API server does. A pod on a node gets a grace period, in which it is Terminating
 * and its kubelet ends it. All else goes at once; such a pod gets a last change that marks its
 * deletion. Returns the answer's body. Throws 404, and 409 for a precondition that does not hold.
 */
export function deleteObject(
  store: ObjectStore,
  resource: Resource,
  object: ApiObject,
  options: unknown,
  now: Date,
): unknown {
  checkPreconditions(resource, object, isRecord(options) ? options['preconditions'] : undefined);
  if (resource !== 'pods') {
    store.remove(resource, object);
    const { name, uid } = object.metadata;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name, kind: resource, uid },
    };
  }
  const seconds = graceOf(object, options);
  if (seconds > 0 && object.metadata.deletionTimestamp !== undefined) return object;
  const deletionTimestamp = timestamp(new Date(now.getTime() + seconds * 1000));
  const metadata = { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: seconds };
  const terminating = store.replace('pods', { ...object, metadata });
  return seconds > 0 ? terminating : store.remove('pods', terminating);
}

/** Throws 409 for an object that is not the wanted one. */
export function checkPreconditions(resource: Resource, object: ApiObject, wanted: unknown): void {
  const { metadata } = object;
  for (const field of ['uid', 'resourceVersion'] as const) {
    const value = isRecord(wanted) ? wanted[field] : undefined;
    if (value === undefined || value === metadata[field]) continue;
    const why = `Precondition failed: ${field} in precondition: ${JSON.stringify(value)}, in object meta: ${metadata[field]}`;
    throw conflict(resource, metadata.name, why);
  }
}

/** There is nothing to wait for if no kubelet has the pod, or all containers have ended. */
function graceOf(object: ApiObject, options: unknown): number {
  const { spec, status } = asPod(object);
  if (spec.nodeName === undefined || status.phase === 'Succeeded' || status.phase === 'Failed')
    return 0;
  const asked = isRecord(options) ? options['gracePeriodSeconds'] : undefined;
  return typeof asked === 'number' ? asked : (spec.terminationGracePeriodSeconds ?? 30);
}

/**
 * Removes Secrets whose owners are gone, like a cluster's garbage collector. Returns a function
 * that stops it.
 */
export function collectGarbage(store: ObjectStore): () => void {
  const isGone = ({ metadata }: ApiObject) => {
    const owners = metadata.ownerReferences ?? [];
    const isThere = ({ name, uid }: OwnerReference) =>
      store.find('pods', metadata.namespace, name)?.metadata.uid === uid;
    return owners.length > 0 && !owners.some(isThere);
  };
  const removeGone = ({ metadata }: ApiObject) => {
    const secret = store.find('secrets', metadata.namespace, metadata.name);
    if (secret !== undefined && isGone(secret)) store.remove('secrets', secret);
  };
  return store.subscribe(({ type, resource, object }) => {
    if (resource === 'pods' && type === 'DELETED')
      store.list('secrets', object.metadata.namespace).forEach(removeGone);
    if (resource === 'secrets' && type !== 'DELETED') queueMicrotask(() => removeGone(object));
  });
}
