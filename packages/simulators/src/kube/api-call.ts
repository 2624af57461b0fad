import type { IncomingMessage } from 'node:http';
import { badRequest } from './api-failure.ts';
import type { Resource } from './api-object.ts';

export type Verb = 'create' | 'get' | 'list' | 'watch' | 'patch' | 'delete';

/** A call of the Kubernetes API, taken apart. */
export interface ApiCall {
  readonly verb: Verb;
  readonly method: string;
  readonly path: string;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: 'status' | 'log';
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

const NAMESPACED =
  /^\/api(?:\/v1|s\/batch\/v1(?=.*\/jobs))\/namespaces\/(?<namespace>[^/]+)\/(?<resource>pods|secrets|services|jobs|events)(\/(?<name>[^/]+)(\/(?<subresource>status|log))?)?$/;
const EVERYWHERE =
  /^\/api\/v1\/(?<resource>pods|secrets|events|nodes|namespaces)(\/(?<name>[^/]+))?$/;

/** Undefined for a path that the simulator does not serve. */
export function parseCall(request: IncomingMessage): ApiCall | undefined {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const groups = (NAMESPACED.exec(url.pathname) ?? EVERYWHERE.exec(url.pathname))?.groups;
  if (groups === undefined) return undefined;
  const { namespace, name, subresource } = groups;
  const method = request.method ?? 'GET';
  const verb = verbOf(method, name !== undefined, url.searchParams.get('watch') === 'true');
  if (verb === undefined) return undefined;
  return {
    verb,
    method,
    path: url.pathname,
    resource: groups['resource'] as Resource,
    ...(namespace === undefined ? {} : { namespace: decodeURIComponent(namespace) }),
    ...(name === undefined ? {} : { name: decodeURIComponent(name) }),
    ...(subresource === 'status' || subresource === 'log' ? { subresource } : {}),
    query: url.searchParams,
    headers: request.headers,
  };
}

function verbOf(method: string, named: boolean, watch: boolean): Verb | undefined {
  if (method === 'GET') {
    if (named) return 'get';
    return watch ? 'watch' : 'list';
  }
  if (method === 'POST' && !named) return 'create';
  if (method === 'PATCH' && named) return 'patch';
  if (method === 'DELETE' && named) return 'delete';
  return undefined;
}

/** The body as JSON; an empty one is undefined. Throws 400. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (chunks.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw badRequest('the object provided is unrecognized: the body is no JSON');
  }
}
