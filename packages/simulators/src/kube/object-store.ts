import { isDeepStrictEqual } from 'node:util';
import { alreadyExists, conflict, expired, notFound } from './api-failure.ts';
import { KIND, type ApiObject, type Resource } from './api-object.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: Resource;
  readonly object: ApiObject;
  /** The object before this change; for a deletion, its last state. */
  readonly previous?: ApiObject;
  readonly revision: number;
}

const keyOf = (namespace: string | undefined, name: string) => `${namespace ?? ''}/${name}`;
const nameOf = (resource: Resource, { name }: { readonly name: string }) => `${resource} ${name}`;
const keyOfObject = ({ metadata }: ApiObject) => keyOf(metadata.namespace, metadata.name);

export type ObjectStore = ReturnType<typeof createObjectStore>;

/** Forgets older changes, as etcd's compaction does. */
const LONGEST_HISTORY = 50_000;

/**
 * All objects, with one counter for all versions and a history to watch from, like etcd behind the
 * API server. It never changes stored objects in place, so callers may keep lists and changes.
 */
export function createObjectStore() {
  const collections = new Map<Resource, Map<string, ApiObject>>();
  const listeners = new Set<(change: Change) => void>();
  /** By resource and name: thousands may wait, each for an object of its own. */
  const waiting = new Map<string, Set<() => void>>();
  let history: Change[] = [];
  let undelivered: Change[] | undefined;
  let revision = 1;
  let compactedTo = 0;

  const collection = (resource: Resource): Map<string, ApiObject> => {
    const found = collections.get(resource) ?? new Map<string, ApiObject>();
    collections.set(resource, found);
    return found;
  };
  const find = (resource: Resource, namespace: string | undefined, name: string) =>
    collection(resource).get(keyOf(namespace, name));

  function record(fact: Omit<Change, 'revision'>): ApiObject {
    const change = { ...fact, revision };
    history.push(change);
    if (history.length > LONGEST_HISTORY) {
      history = history.slice(LONGEST_HISTORY / 2);
      compactedTo = (history[0]?.revision ?? revision) - 1;
    }
    deliver(change);
    return fact.object;
  }
  /**
   * A listener may write: its change waits until all listeners have got this one, so that all get
   * them in order.
   */
  function deliver(change: Change): void {
    if (undelivered !== undefined) {
      undelivered.push(change);
      return;
    }
    undelivered = [change];
    try {
      for (let next = undelivered.shift(); next !== undefined; next = undelivered.shift()) {
        for (const listener of listeners) listener(next);
        for (const check of waiting.get(nameOf(next.resource, next.object.metadata)) ?? []) check();
      }
    } finally {
      undelivered = undefined;
    }
  }
  function stamped(object: ApiObject): ApiObject {
    revision++;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
  }

  return {
    revision: () => revision,
    find,
    get(resource: Resource, namespace: string | undefined, name: string): ApiObject {
      const object = find(resource, namespace, name);
      if (object === undefined) throw notFound(resource, name);
      return object;
    },
    /** In order of their keys, as etcd lists them. */
    list(resource: Resource, namespace?: string): ApiObject[] {
      const objects = [...collection(resource)]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([, object]) => object);
      return namespace === undefined
        ? objects
        : objects.filter(({ metadata }) => metadata.namespace === namespace);
    },
    create(resource: Resource, object: ApiObject): ApiObject {
      const key = keyOfObject(object);
      if (collection(resource).has(key)) throw alreadyExists(resource, object.metadata.name);
      const created = stamped(object);
      collection(resource).set(key, created);
      return record({ type: 'ADDED', resource, object: created });
    },
    /** Replaces an object with a changed copy. An equal copy makes no change. */
    replace(resource: Resource, object: ApiObject): ApiObject {
      const previous = find(resource, object.metadata.namespace, object.metadata.name);
      if (previous === undefined) throw notFound(resource, object.metadata.name);
      if (previous.metadata.resourceVersion !== object.metadata.resourceVersion) {
        throw conflict(
          resource,
          object.metadata.name,
          'the object has been modified; please apply your changes to the latest version',
        );
      }
      if (isDeepStrictEqual(previous, object)) return previous;
      const changed = stamped(object);
      collection(resource).set(keyOfObject(object), changed);
      return record({ type: 'MODIFIED', resource, object: changed, previous });
    },
    remove(resource: Resource, object: ApiObject): ApiObject {
      const previous = find(resource, object.metadata.namespace, object.metadata.name);
      if (previous?.metadata.uid !== object.metadata.uid)
        throw notFound(resource, object.metadata.name);
      collection(resource).delete(keyOfObject(object));
      return record({ type: 'DELETED', resource, object: stamped(previous), previous });
    },
    /** The changes of a resource after a version. Throws 410 for a version that is too old. */
    changesAfter(resource: Resource, after: number): Change[] {
      if (after < compactedTo)
        throw expired(
          `too old resource version: ${after} (${compactedTo + 1}) of ${KIND[resource]}`,
        );
      return history.filter((change) => change.revision > after && change.resource === resource);
    },
    subscribe(listener: (change: Change) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /**
     * Resolves with the first value that `look` finds, now or after a change of the object of that
     * name; rejects when the signal aborts.
     */
    until<T>(
      signal: AbortSignal,
      { resource, name }: { resource: Resource; name: string },
      look: () => T | undefined,
    ): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const key = nameOf(resource, { name });
      const checks = waiting.get(key) ?? new Set<() => void>();
      const check = () => {
        if (signal.aborted) return reject(signal.reason);
        try {
          const found = look();
          if (found !== undefined) resolve(found);
        } catch (error) {
          reject(error);
        }
      };
      waiting.set(key, checks.add(check));
      signal.addEventListener('abort', check);
      check();
      return promise.finally(() => {
        checks.delete(check);
        if (checks.size === 0) waiting.delete(key);
        signal.removeEventListener('abort', check);
      });
    },
    /** Forgets the history: every older version is too old from now on. */
    compact(): void {
      history = [];
      revision++;
      compactedTo = revision;
    },
  };
}
