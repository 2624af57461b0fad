import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord } from './api-object.ts';
import { ApiFailure, notFound, statusObject } from './api-failure.ts';
import { parseCall, type ApiCall } from './api-call.ts';
import { takeFault } from '../faults.ts';
import type { KubeFault } from './kube-control.ts';
import { serveObject, type ObjectService } from './serve-object.ts';
import { serveWatch } from './serve-watch.ts';

export interface ApiService extends ObjectService {
  readonly token: string;
  readonly faults: KubeFault[];
  readonly bookmarkMs: number;
  readonly watches: Set<{ cut(): void }>;
  count(call: Pick<ApiCall, 'verb' | 'subresource'> & { readonly resource: string }): void;
  /** A fault has struck a call. */
  callFailed(): void;
}

/** Serves one request of the Kubernetes API, or fails it as a fault demands. */
export async function serveCall(
  service: ApiService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    authorise(service, request);
    if (request.method === 'GET' && request.url === VERSION.path)
      return serveVersion(service, response);
    const call = parsed(request);
    service.count(call);
    const fault = strikeOf(service, call);
    if (fault?.warning !== undefined)
      response.setHeader('warning', `299 - ${JSON.stringify(fault.warning)}`);
    else if (fault !== undefined) service.callFailed();
    const isEmpty = fault?.empty === true;
    if (isFatal(fault) && fault.afterCommit !== true) return fail(fault, response);
    if (call.verb === 'watch') return watch(service, call, response);
    const { status, body } = await serveObject(service, call, request);
    if (isFatal(fault)) return fail(fault, response);
    if (body instanceof Buffer)
      response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
    else sendJson(response, status, isEmpty && isRecord(body) ? { ...body, items: [] } : body);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    sendJson(response, error.status, statusObject(error));
  }
}

const strikeOf = (
  { faults }: ApiService,
  call: Pick<ApiCall, 'method' | 'verb' | 'path'>,
): KubeFault | undefined =>
  takeFault(faults, call, ({ verb }) => verb === undefined || verb === call.verb);

function authorise({ token }: ApiService, request: IncomingMessage): void {
  if (request.headers.authorization !== `Bearer ${token}`)
    throw new ApiFailure(401, 'Unauthorized', 'Unauthorized');
}

/** Paths without an object, such as the server's version. */
const VERSION = { method: 'GET', verb: 'get', path: '/version', resource: 'version' } as const;

function serveVersion(service: ApiService, response: ServerResponse): void {
  service.count(VERSION);
  const fault = strikeOf(service, VERSION);
  if (!isFatal(fault))
    return sendJson(response, 200, {
      major: '1',
      minor: '33',
      gitVersion: 'v1.33.1',
      platform: 'linux/amd64',
    });
  service.callFailed();
  fail(fault, response);
}

function parsed(request: IncomingMessage): ApiCall {
  const call = parseCall(request);
  if (call === undefined) throw notFound('path', request.url ?? '');
  return call;
}

const isFatal = (fault: KubeFault | undefined): fault is KubeFault =>
  fault !== undefined && fault.warning === undefined && fault.empty !== true;

function watch(service: ApiService, call: ApiCall, response: ServerResponse): void {
  const open = serveWatch(service.store, call, response, service.bookmarkMs);
  service.watches.add(open);
  response.once('close', () => service.watches.delete(open));
}

function fail(fault: KubeFault, response: ServerResponse): void {
  if (fault.hang === true) return;
  if (fault.status === undefined) {
    response.destroy();
    return;
  }
  const { retryAfterSeconds, reason = '', message = 'a fault of the simulator' } = fault;
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  sendJson(
    response,
    fault.status,
    statusObject(new ApiFailure(fault.status, reason, message, details)),
  );
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
