import { conflict } from './api-failure.ts';
import { asPod, isRecord, timestamp, type ApiObject, type Resource } from './api-object.ts';
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
  checkPreconditions(resource, object, options);
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

function checkPreconditions(resource: Resource, object: ApiObject, options: unknown): void {
  const wanted =
    isRecord(options) && isRecord(options['preconditions']) ? options['preconditions'] : {};
  const { name, uid, resourceVersion } = object.metadata;
  if (wanted['uid'] !== undefined && wanted['uid'] !== uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${JSON.stringify(wanted['uid'])}, UID in object meta: ${uid}`,
    );
  }
  if (wanted['resourceVersion'] !== undefined && wanted['resourceVersion'] !== resourceVersion) {
    throw conflict(
      resource,
      name,
      `Precondition failed: ResourceVersion in precondition: ${JSON.stringify(wanted['resourceVersion'])}`,
    );
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

const ownerOf = ({ metadata }: ApiObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid);

/**
 * Removes objects whose owners are gone, like a cluster's garbage collector. Returns a function
 * that stops it.
 */
export function collectGarbage(store: ObjectStore): () => void {
  const isGone = ({ metadata }: ApiObject) => {
    const owners = metadata.ownerReferences ?? [];
    return (
      owners.length > 0 &&
      !owners.some(
        ({ name, uid }) => store.find('pods', metadata.namespace, name)?.metadata.uid === uid,
      )
    );
  };
  return store.subscribe(({ type, resource, object }) => {
    if (resource === 'pods' && type === 'DELETED') {
      const owned = store
        .list('secrets', object.metadata.namespace)
        .filter((secret) => ownerOf(secret).includes(object.metadata.uid));
      for (const secret of owned) if (isGone(secret)) store.remove('secrets', secret);
    }
    if (resource === 'secrets' && type !== 'DELETED' && isGone(object))
      queueMicrotask(() => removeIfThere(store, object));
  });
}

function removeIfThere(store: ObjectStore, { metadata }: ApiObject): void {
  const secret = store.find('secrets', metadata.namespace, metadata.name);
  if (secret?.metadata.uid === metadata.uid) store.remove('secrets', secret);
}
