import type { Request } from 'express';

/**
 * The address of the answer in the API that a view shows. A page and its answer share an address:
 * who asks for JSON, by `.json` or by `Accept`, gets the answer. Undefined: everyone else, who gets
 * the page.
 */
export function listAt(request: Request): string | undefined {
  const { path, url } = request;
  const isJson = path.endsWith('.json');
  // Who takes anything is a browser, or a person with a tool who wants to see the page.
  if (!isJson && request.accepts('text/html', 'application/json') !== 'application/json')
    return undefined;
  const view = isJson ? path.slice(0, -'.json'.length) : path;
  const [pattern, list] = ELSEWHERE.find(([one]) => one.test(view)) ?? [/$/, ''];
  return `/api/v1${view.replace(pattern, list)}${url.slice(path.length)}`;
}

/** Views whose answer has another path in the API. */
const ELSEWHERE: readonly (readonly [view: RegExp, path: string])[] = [
  [/^\/?$/, '/pools'],
  [/^\/runs\/[^/]+$/, '$&/why'],
];
