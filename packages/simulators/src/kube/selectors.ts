import { badRequest } from './api-failure.ts';
import { isRecord, type ApiObject } from './api-object.ts';

export type Selector = (object: ApiObject) => boolean;

/**
 * `labelSelector` and `fieldSelector` of a list or watch, both at once. Throws 400 for a selector
 * that it cannot parse.
 */
export function selectorOf(query: URLSearchParams): Selector {
  const tests = [
    ...split(query.get('labelSelector')).map((text) =>
      parseRequirement(text, (object, key) => object.metadata.labels?.[key]),
    ),
    ...split(query.get('fieldSelector')).map((text) => parseRequirement(text, fieldOf)),
  ];
  return (object) => tests.every((test) => test(object));
}

type Lookup = (object: ApiObject, key: string) => string | undefined;

/** Commas within `in (a,b)` do not separate requirements. */
function split(selector: string | null): string[] {
  return (selector ?? '').split(/,(?![^(]*\))/).filter((part) => part.trim() !== '');
}

function parseRequirement(text: string, lookup: Lookup): Selector {
  const set = /^\s*([\w./-]+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(text);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return (object) => values.has(lookup(object, key) ?? '\0') === (operator === 'in');
  }
  const equality = /^\s*([\w./-]+)\s*(==|=|!=)\s*([\w.-]*)\s*$/.exec(text);
  if (equality) {
    const [, key = '', operator, value = ''] = equality;
    return (object) => (lookup(object, key) === value) === (operator !== '!=');
  }
  const presence = /^\s*(!?)\s*([\w./-]+)\s*$/.exec(text);
  if (!presence) throw badRequest(`unable to parse requirement: ${text}`);
  const [, not = '', key = ''] = presence;
  return (object) => (lookup(object, key) !== undefined) === (not === '');
}

function fieldOf(object: ApiObject, path: string): string | undefined {
  let value: unknown = object;
  for (const part of path.split('.')) value = isRecord(value) ? value[part] : undefined;
  return typeof value === 'string' ? value : undefined;
}
