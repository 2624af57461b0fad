import { badRequest, expired } from './api-failure.ts';
import { isRecord, KIND, type ApiObject, type Resource } from './api-object.ts';
import type { ObjectStore } from './object-store.ts';

const MOST_SNAPSHOTS = 100;

/**
 * Lists in pages: all pages of one list show the same version, until `forget` makes the open ones
 * expire (410).
 */
export function createListPages(store: ObjectStore) {
  const snapshots = new Map<string, { items: readonly ApiObject[]; resourceVersion: string }>();
  let lists = 0;

  function begin(resource: Resource, namespace: string | undefined, query: URLSearchParams) {
    const items = store.list(resource, namespace).filter(selectorOf(query));
    return {
      id: String(++lists),
      snapshot: { items, resourceVersion: String(store.revision()) },
      offset: 0,
    };
  }
  function resume(token: string) {
    const [id = '', offset] = token.split('_');
    const snapshot = snapshots.get(id);
    if (snapshot === undefined) {
      throw expired(
        'The provided continue parameter is too old to display a consistent list result.',
      );
    }
    return { id, snapshot, offset: Number(offset) };
  }

  return {
    list(resource: Resource, namespace: string | undefined, query: URLSearchParams) {
      const token = query.get('continue') ?? '';
      const { id, snapshot, offset } =
        token === '' ? begin(resource, namespace, query) : resume(token);
      const limit = Number(query.get('limit') ?? 0) || Infinity;
      const { items, resourceVersion } = snapshot;
      const page = { kind: `${KIND[resource]}List`, items: items.slice(offset, offset + limit) };
      const end = offset + limit;
      if (end >= items.length) return { ...page, metadata: { resourceVersion } };
      snapshots.set(id, snapshot);
      for (const [oldest] of snapshots)
        if (snapshots.size > MOST_SNAPSHOTS) snapshots.delete(oldest);
      return {
        ...page,
        metadata: { resourceVersion, continue: `${id}_${end}` },
      };
    },
    forget: () => snapshots.clear(),
  };
}

export type Selector = (object: ApiObject) => boolean;

/**
 * `labelSelector` and `fieldSelector` of a list or watch, both at once, of equalities and absences
 * (`!label`) only. Throws 400 for any other selector.
 */
export function selectorOf(query: URLSearchParams): Selector {
  const tests = [
    ...equalitiesIn(query.get('labelSelector'), (object, key) => object.metadata.labels?.[key]),
    ...equalitiesIn(query.get('fieldSelector'), fieldOf),
  ];
  return (object) => tests.every((test) => test(object));
}

function equalitiesIn(
  selector: string | null,
  lookup: (object: ApiObject, key: string) => unknown,
): Selector[] {
  const parts = (selector ?? '').split(',').filter((part) => part.trim() !== '');
  return parts.map((text) => {
    const [, not, key, value] =
      /^\s*(?:(!)\s*)?([\w./-]+)(?:\s*==?\s*([\w.-]*))?\s*$/.exec(text) ?? [];
    if (key === undefined || (not === undefined) === (value === undefined))
      throw badRequest(`unable to parse requirement: ${text}`);
    return (object) => lookup(object, key) === value;
  });
}

const fieldOf = (object: ApiObject, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, part) => (isRecord(value) ? value[part] : undefined), object);
