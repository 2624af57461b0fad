import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiFailure, notFound, statusObject } from './api-failure.ts';
import { asRecord } from '@paddock/domain/pools/as-record';
import { parseCall, readBody, type ApiCall, type Verb } from './api-call.ts';
import type { RunnerFaults } from './runner-faults.ts';
import { type Fault, takeFault } from '../faults.ts';
import { serveObject, type ObjectService } from './serve-object.ts';
import { serveWatch } from './serve-watch.ts';

/** A fault of the API's answers. */
export interface KubeFault extends Fault {
  readonly verb?: Verb | undefined;
  /** Of the Status object that the answer is. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** A list succeeds and is empty, like that of a server with an empty cache. */
  readonly empty?: boolean | undefined;
  /** A creation succeeds, with an object that this merge patch has changed, as by a webhook. */
  readonly change?: object | undefined;
}

export interface ApiService extends ObjectService {
  readonly token: string;
  /** Rights that callers lack, as `pods/log get`. */
  denied: readonly string[];
  readonly faults: KubeFault[];
  readonly runnerFaults: RunnerFaults;
  readonly bookmarkMs: number;
  readonly watches: Set<{ cut(): void }>;
  count(call: Pick<ApiCall, 'verb' | 'subresource'> & { readonly resource: string }): void;
  /** A fault has struck a call. */
  callFailed(): void;
}

/** What paths without an object answer: the server's version, and whether it is ready. */
const WITHOUT_OBJECT = new Map([
  ['/version', '{"major":"1","minor":"33","gitVersion":"v1.33.1","platform":"linux/amd64"}'],
  ['/readyz', 'ok'],
]);
const ofServer = { method: 'GET', verb: 'get', resource: 'server' } as const;

/** A caller asks whether it has a right. It has all but those denied. */
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** The right that a review asks about, as `pods/log get`. */
function rightIn(review: unknown): string {
  const { spec } = asRecord(review);
  const { resource, subresource, verb } = asRecord(asRecord(spec)['resourceAttributes']);
  const of = [resource, subresource].filter((part) => typeof part === 'string').join('/');
  return `${of} ${String(verb)}`;
}

/** Serves one request of the Kubernetes API, or fails it as a fault demands. */
export async function serveCall(
  service: ApiService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (request.headers.authorization !== `Bearer ${service.token}`)
      throw new ApiFailure(401, 'Unauthorized', 'Unauthorized');
    // No fault strikes it: services ask at any time, and faults are meant for other calls.
    if (request.url === REVIEWS) {
      const allowed = !service.denied.includes(rightIn(await readBody(request)));
      return sendJson(response, 201, { status: { allowed } });
    }
    const { url: path = '' } = request;
    const call = WITHOUT_OBJECT.has(path) ? { ...ofServer, path } : parseCall(request);
    if (call === undefined) throw notFound('path', path);
    service.count(call);
    const fault = takeFault(
      service.faults,
      call,
      ({ verb }) => verb === undefined || verb === call.verb,
    );
    if (fault !== undefined) service.callFailed();
    const isFatal = fault !== undefined && fault.empty !== true && fault.change === undefined;
    if (isFatal && fault.afterCommit !== true) return fail(fault, response);
    if (call.resource === 'server') return void response.end(WITHOUT_OBJECT.get(path));
    if (call.verb === 'watch') return watch(service, call, response);
    const { status, body } = await serveObject(service, call, request, fault?.change);
    if (isFatal) return fail(fault, response);
    if (body instanceof Buffer)
      response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
    else
      sendJson(response, status, fault?.empty === true ? { ...(body as object), items: [] } : body);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    sendJson(response, error.status, statusObject(error));
  }
}

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
