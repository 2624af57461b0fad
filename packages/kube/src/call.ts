import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { HttpMethod } from '@kubernetes/client-node';
import { asRecord } from '@paddock/domain/pools/as-record';
import { repairJsonText, storable } from '@paddock/domain/text/storable';
import type { Cluster } from './connect.ts';
import {
  classifyKubeError,
  isUnanswered,
  KubeError,
  type KubeFailure,
  kindOf,
  readStatus,
  redactedWords,
} from './errors.ts';

export interface Call {
  readonly method: HttpMethod;
  /** Path below the server's address, already encoded (see `objectPath`). */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** A value, or its JSON. */
  readonly body?: unknown;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** The body holds a secret, so the error's message must not quote the cluster's answer. */
  readonly secretBody?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Gets the API server's warnings about a call that succeeded. */
  readonly onWarnings?: ((warnings: readonly string[]) => void) | undefined;
}

/**
 * Sends one call and reads its JSON answer. Throws KubeError for any status but 2xx, a broken
 * connection, or a timeout.
 */
export async function callJson(cluster: Cluster, call: Call): Promise<unknown> {
  const text = await callText(cluster, call);
  try {
    return readJson(text);
  } catch (error) {
    const message = `${describe(call)}: the answer is not JSON; is ${cluster.server} a Kubernetes API server?`;
    throw new KubeError({ kind: 'unavailable', message }, { cause: error });
  }
}

/**
 * Parses the cluster's JSON into a value that PostgreSQL can hold: a pod's status may quote its
 * job's output. Throws a SyntaxError for other text.
 */
export const readJson = (text: string): unknown => JSON.parse(repairJsonText(text).text);

/** Like `callJson`, for plain text. */
export async function callText(cluster: Cluster, call: Call): Promise<string> {
  return withinLimit(cluster, call, async (signal) => {
    const answer = await send(cluster, call, signal);
    return readText(call, answer);
  });
}

/**
 * Opens a call whose answer never ends by itself. Resolves when the answer begins. The caller reads
 * the stream and aborts by `call.signal`.
 */
export async function callStream(
  cluster: Cluster,
  call: Call & { readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  // The limit ends with the answer's head, and the signal goes on.
  return withinLimit(cluster, call, async (signal) => send(cluster, call, signal));
}

async function withinLimit<T>(
  cluster: Cluster,
  call: Call,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), cluster.requestTimeoutMs);
  try {
    return await run(
      call.signal === undefined ? limit.signal : AbortSignal.any([limit.signal, call.signal]),
    );
  } catch (error) {
    call.signal?.throwIfAborted();
    if (error instanceof KubeError) throw error;
    if (limit.signal.aborted) {
      const message = `${describe(call)}: no answer from ${cluster.server} within ${cluster.requestTimeoutMs} ms`;
      throw new KubeError({ kind: 'timeout', message }, { cause: error });
    }
    throw networkError(cluster, call, error);
  } finally {
    clearTimeout(timer);
  }
}

/** The error of a connection that failed or broke. */
export function networkError(cluster: Cluster, call: Call, error: unknown): KubeError {
  const why = error instanceof Error ? error.message || error.name : String(error);
  return new KubeError(
    { kind: 'network', message: `${describe(call)}: no connection to ${cluster.server}: ${why}` },
    { cause: error },
  );
}

async function send(cluster: Cluster, call: Call, signal: AbortSignal): Promise<IncomingMessage> {
  const body =
    call.body === undefined || typeof call.body === 'string'
      ? call.body
      : JSON.stringify(call.body);
  const answer = await cluster.send({
    method: call.method,
    path: call.path + queryOf(call),
    headers: {
      accept: call.accept ?? 'application/json',
      ...(body !== undefined && {
        'content-type': call.contentType ?? 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
    },
    body,
    signal,
  });
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300) {
    call.onWarnings?.(warningsIn(answer.headersDistinct['warning'] ?? []));
    return answer;
  }
  throw new KubeError(
    answeredFailure(call, status, answer.headers['retry-after'], await readText(call, answer)),
  );
}

/** The API server warns with code 299 and a quoted text: `299 - "unknown field \"spec.image\""`. */
const WARNING = /^299 \S+ "((?:[^"\\]|\\.)*)"/;

const warningsIn = (headers: readonly string[]): string[] =>
  headers.flatMap((header) => WARNING.exec(header)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? []);

function answeredFailure(
  call: Call,
  status: number,
  retryAfter: string | undefined,
  body: string,
): KubeFailure {
  const said = readStatus(parsed(body));
  const seconds =
    said.retryAfterSeconds ??
    (retryAfter !== undefined && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined);
  const words = call.secretBody === true ? redactedWords(said) : (said.message ?? '');
  // API priority and fairness, and proxies on the way, answer in plain text instead of a Status.
  const isStatus = said.reason !== undefined || said.message !== undefined;
  const reason = said.reason ?? (isStatus ? undefined : STATUS_CODES[status]);
  // A proxy that has lost the API server answers 404 too, which says nothing of the object.
  const isProxys = status === 404 && !isStatus;
  return {
    kind: isProxys ? 'unavailable' : kindOf(status, said.reason),
    status,
    reason: said.reason,
    message: `${describe(call)}: ${[status, reason ?? '', words].filter((part) => part !== '').join(' ')}`,
    retryAfterMs: seconds === undefined ? undefined : Math.min(seconds * 1000, LONGEST_WAIT_MS),
  };
}

/** A webhook may name any wait, and the API server passes it on. */
const LONGEST_WAIT_MS = 300_000;

/** A proxy may answer in HTML. Then the HTTP status alone decides. */
function parsed(body: string): unknown {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}

/**
 * A page of 500 pods has some 10 MB. Logs have a limit, but a node under a job's control may ignore
 * it.
 */
const LONGEST_ANSWER_BYTES = 128 * 1024 * 1024;

async function readText(call: Call, answer: IncomingMessage): Promise<string> {
  const decoder = new StringDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LONGEST_ANSWER_BYTES) {
      throw new KubeError({
        kind: 'unavailable',
        message: `${describe(call)}: the answer is longer than ${LONGEST_ANSWER_BYTES} bytes`,
      });
    }
    text += decoder.write(chunk);
  }
  return storable(text + decoder.end());
}

function queryOf({ query = {} }: Call): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** `GET /api/v1/namespaces/runners/pods/pdk-1`: the attempted call. */
const describe = ({ method, path }: Call): string => `${method} ${path}`;

/** The path of an object or a collection: of the core API, or of a group's, as in `jobs.batch`. */
export function objectPath(
  namespace: string,
  resource: 'pods' | 'secrets' | 'services' | 'jobs.batch' | 'events',
  name?: string,
  subresource?: string,
): string {
  const [plural, group] = resource.split('.');
  const parts = [namespace, plural, name, subresource]
    .filter((part) => part !== undefined)
    .map(encodeURIComponent);
  return `/${group === undefined ? 'api' : `apis/${group}`}/v1/namespaces/${parts.join('/')}`;
}

/**
 * Asks the API server whether it is ready; no node, webhook or quota takes part. An API server that
 * has just started refuses everything (403), at first this question, too. It is ready once it lets
 * us ask for our own rights, as everybody may. Resolves to undefined if it is ready, else to why
 * not. Never throws.
 */
export async function probeCluster(
  cluster: Cluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ask = (call: Call) => callText(cluster, { ...call, signal }).catch(classifyKubeError);
  const said = await ask(READINESS);
  if (typeof said === 'string')
    return said === 'ok'
      ? undefined
      : `${describe(READINESS)}: the answer is not "ok"; is ${cluster.server} a Kubernetes API server?`;
  const isAnswered =
    said.status === 403
      ? typeof (await ask(reviewOf(OWN_RIGHT))) === 'string'
      : !isUnanswered(said);
  return isAnswered ? undefined : said.message;
}

const READINESS: Call = { method: 'GET', path: '/readyz' };
const OWN_RIGHT = { nonResourceAttributes: { verb: 'get', path: READINESS.path } };

/** Asks whether we have a right, as everybody may of themselves. */
export const reviewOf = (spec: object): Call => ({
  method: 'POST',
  path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec },
});

/**
 * The version of the API server, as `v1.33.1`. Throws KubeError, also for the page of a proxy in its place.
 */
export async function readVersion(cluster: Cluster): Promise<string> {
  const { gitVersion } = asRecord(await callJson(cluster, VERSION));
  if (typeof gitVersion === 'string') return gitVersion;
  const message = `${describe(VERSION)}: the answer is no version; is ${cluster.server} a Kubernetes API server?`;
  throw new KubeError({ kind: 'unavailable', message });
}

const VERSION: Call = { method: 'GET', path: '/version' };
