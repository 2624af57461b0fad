import { readBody, type ApiCall } from './api-call.ts';
import type { IncomingMessage } from 'node:http';
import { admit } from './admit.ts';
import { badRequest, forbidden } from './api-failure.ts';
import { asPod, isNamespaced, isRecord, type ApiObject } from './api-object.ts';
import { checkPreconditions, deleteObject } from './delete-object.ts';
import type { LogLine } from './kubelet.ts';
import type { createListPages } from './list-pages.ts';
import type { ObjectStore } from './object-store.ts';

export interface ObjectService {
  readonly store: ObjectStore;
  readonly pages: ReturnType<typeof createListPages>;
  /** The most pods of one namespace that have not ended; more are refused. */
  quota: number;
  /** A container's log so far, or why there is none. */
  readLog(pod: ApiObject, container: string): readonly LogLine[];
}

export interface Answer {
  readonly status: number;
  /** Bytes are sent as plain text, anything else as JSON. */
  readonly body: unknown;
}

/** Serves every call except watches; `change` is merged into a new object. Throws ApiFailure. */
export async function serveObject(
  service: ObjectService,
  call: ApiCall,
  request: IncomingMessage,
  change: object = {},
): Promise<Answer> {
  const body = await readBody(request);
  const { store } = service;
  const { resource, namespace, name = '' } = call;
  if (isNamespaced(resource) && namespace !== undefined && call.verb === 'create')
    store.get('namespaces', undefined, namespace);
  switch (call.verb) {
    case 'create':
      return { status: 201, body: trimmed(call, create(service, call, body, change)) };
    case 'list':
    case 'watch':
      return {
        status: 200,
        body: { apiVersion: 'v1', ...service.pages.list(resource, namespace, call.query) },
      };
    case 'get':
      if (call.subresource === 'log') return { status: 200, body: logOf(service, call) };
      return { status: 200, body: trimmed(call, store.get(resource, namespace, name)) };
    case 'patch':
      return { status: 200, body: trimmed(call, patch(store, call, body)) };
    case 'delete':
      return {
        status: 200,
        body: deleteObject(
          store,
          resource,
          store.get(resource, namespace, name),
          optionsOf(call, body),
          new Date(),
        ),
      };
    default:
      return call.verb satisfies never;
  }
}

function create(
  { store, quota }: ObjectService,
  call: ApiCall,
  body: unknown,
  change: object,
): ApiObject {
  const admitted = admit(call.resource, call.namespace, body, new Date());
  const object = merge(admitted, change) as ApiObject;
  const { name } = object.metadata;
  if (
    call.resource === 'pods' &&
    quota < Infinity &&
    store.find('pods', call.namespace, name) === undefined
  ) {
    const used = store.list('pods', call.namespace).filter((pod) => !isEnded(pod)).length;
    if (used >= quota) {
      const why = `exceeded quota: pods, requested: count/pods=1, used: count/pods=${used}, limited: count/pods=${quota}`;
      throw forbidden('pods', name, why);
    }
  }
  return call.query.get('dryRun') === 'All' ? object : store.create(call.resource, object);
}

/** Objects merge, null removes, everything else replaces (RFC 7386). */
function patch(store: ObjectStore, call: ApiCall, body: unknown): ApiObject {
  const { resource, namespace, name = '' } = call;
  const before = store.get(resource, namespace, name);
  checkPreconditions(resource, before, isRecord(body) ? body['metadata'] : undefined);
  const after = merge(before, body) as ApiObject;
  // Each of the two paths changes only one part.
  const kept =
    call.subresource === 'status' ? { spec: before['spec'] } : { status: before['status'] };
  return store.replace(resource, {
    ...after,
    ...('spec' in before || 'status' in before ? kept : {}),
  });
}

/**
 * As a kubelet behind an API server, which hands `sinceTime` on in whole seconds. `limitBytes` may
 * cut a line, and a character.
 */
function logOf(service: ObjectService, { namespace, name = '', query }: ApiCall): Buffer {
  const pod = asPod(service.store.get('pods', namespace, name));
  const names = pod.spec.containers.map((container) => container.name);
  const container = query.get('container') ?? (names.length === 1 ? (names[0] ?? '') : '');
  if (!names.includes(container)) {
    throw badRequest(
      container === ''
        ? `a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`
        : `container ${container} is not valid for pod ${name}`,
    );
  }
  const since = query.get('sinceTime');
  const sinceMs = since === null ? -Infinity : Math.floor(Date.parse(since) / 1_000) * 1_000;
  const withTime = query.get('timestamps') === 'true';
  const tail = Number(query.get('tailLines') ?? Infinity);
  const lines = service.readLog(pod, container);
  const text = lines
    .slice(Math.max(0, lines.length - tail))
    .filter(({ at }) => at.getTime() >= sinceMs)
    .map((line) => `${withTime ? `${nanoseconds(line.at)} ` : ''}${line.text}\n`)
    .join('');
  return Buffer.from(text).subarray(0, Number(query.get('limitBytes') ?? Infinity));
}

const nanoseconds = (at: Date): string => at.toISOString().replace('Z', '000000Z');

/** Options of a deletion come in the body or in the query. */
function optionsOf({ query }: ApiCall, body: unknown): unknown {
  if (body !== undefined || !query.has('gracePeriodSeconds')) return body;
  return { gracePeriodSeconds: Number(query.get('gracePeriodSeconds')) };
}

function trimmed({ headers }: ApiCall, object: ApiObject): unknown {
  if (headers.accept?.includes('as=PartialObjectMetadata') !== true) return object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}

export function isEnded(pod: ApiObject): boolean {
  const { phase } = asPod(pod).status;
  return phase === 'Succeeded' || phase === 'Failed';
}

function merge(target: unknown, changes: unknown): unknown {
  if (!isRecord(changes)) return changes;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete result[key];
    else result[key] = merge(result[key], value);
  }
  return result;
}
