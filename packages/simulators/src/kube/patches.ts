import { ApiFailure, badRequest } from './api-failure.ts';
import { isRecord } from './api-object.ts';

/** Applies a patch body by its content type. Pure: returns a new object. */
export function applyPatch(contentType: string, object: unknown, patch: unknown): unknown {
  switch (contentType.replace(/;.*/, '').trim()) {
    case 'application/merge-patch+json':
      return mergePatch(object, patch);
    case 'application/strategic-merge-patch+json':
      return strategicMerge(object, patch);
    case 'application/json-patch+json':
      if (!Array.isArray(patch)) throw badRequest('a JSON patch is a list of operations');
      return patch.reduce(applyOperation, structuredClone(object));
    default:
      throw new ApiFailure(
        415,
        'UnsupportedMediaType',
        `the body of the request was in an unknown format: ${contentType}`,
      );
  }
}

/** RFC 7386: objects merge, null removes, everything else replaces. */
function mergePatch(target: unknown, patch: unknown): unknown {
  return merge(target, patch, (_key, _old, list) => list);
}

/** The lists of core types that strategic merge joins by a key; all others are replaced. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  conditions: 'type',
  containers: 'name',
  initContainers: 'name',
  env: 'name',
  ownerReferences: 'uid',
  tolerations: 'key',
  volumes: 'name',
};

function strategicMerge(target: unknown, patch: unknown): unknown {
  return merge(target, patch, (key, old, list) => {
    const mergeKey = MERGE_KEYS[key];
    if (mergeKey === undefined || !Array.isArray(old)) return list;
    const result: unknown[] = [...old];
    for (const item of list) {
      const at = result.findIndex(
        (candidate) =>
          isRecord(candidate) && isRecord(item) && candidate[mergeKey] === item[mergeKey],
      );
      if (isRecord(item) && item['$patch'] === 'delete') {
        if (at !== -1) result.splice(at, 1);
      } else if (at === -1) result.push(item);
      else result[at] = strategicMerge(result[at], item);
    }
    return result;
  });
}

function merge(
  target: unknown,
  patch: unknown,
  mergeList: (key: string, old: unknown, list: unknown[]) => unknown,
): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (Array.isArray(value)) result[key] = mergeList(key, result[key], value);
    else result[key] = merge(result[key], value, mergeList);
  }
  return result;
}

/** RFC 6902, without `move` and `copy`. */
function applyOperation(document: unknown, operation: unknown): unknown {
  if (!isRecord(operation) || typeof operation['path'] !== 'string')
    throw badRequest('a JSON patch operation needs a path');
  const { op, path, value } = operation;
  if (typeof path !== 'string') throw badRequest('a JSON patch operation needs a path');
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop();
  if (last === undefined) throw badRequest('a JSON patch of the whole document is refused');
  let parent: unknown = document;
  for (const part of parts)
    parent = isRecord(parent)
      ? parent[part]
      : Array.isArray(parent)
        ? parent[Number(part)]
        : undefined;
  const missing = new ApiFailure(
    422,
    'Invalid',
    `the server rejected our request due to an error in our request: no ${path}`,
  );
  if (Array.isArray(parent)) {
    const at = last === '-' ? parent.length : Number(last);
    if (op === 'add') parent.splice(at, 0, value);
    else if (op === 'replace') parent[at] = value;
    else if (op === 'remove') parent.splice(at, 1);
    else if (op !== 'test' || parent[at] !== value) throw missing;
  } else if (isRecord(parent)) {
    if (op !== 'add' && !(last in parent)) throw missing;
    if (op === 'add' || op === 'replace') parent[last] = value;
    else if (op === 'remove') delete parent[last];
    else if (op !== 'test' || parent[last] !== value) throw missing;
  } else throw missing;
  return document;
}
