import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { sign } from '@octokit/webhooks-methods';

const require = createRequire(import.meta.url);

export interface DeliveryContent {
  /** The value of X-GitHub-Event. */
  readonly event: string;
  /** Sent as JSON; a string is sent as it is. */
  readonly payload: unknown;
  /** The webhook secret of the App. */
  readonly secret: string;
  readonly appId: number;
  /** The delivery's GUID; a new one if absent. */
  readonly guid?: string;
  /** More headers, or replacements of GitHub's. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SignedDelivery {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A webhook delivery with the headers that GitHub sends for an App, signed by GitHub's library. */
export async function signedDelivery({
  event,
  payload,
  secret,
  appId,
  guid,
  headers,
}: DeliveryContent): Promise<SignedDelivery> {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return {
    headers: {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0000000',
      'x-github-delivery': guid ?? randomUUID(),
      'x-github-event': event,
      'x-github-hook-id': '1',
      'x-github-hook-installation-target-id': String(appId),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': await sign(secret, body),
      ...headers,
    },
    body,
  };
}

/**
 * Sends it to a webhook URL and returns the answer with any status. Rejects if `signal` aborts
 * first.
 */
export async function post(
  url: string,
  { headers, body }: SignedDelivery,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) });
}

type JsonValue = string | number | boolean | null | undefined | JsonValue[] | JsonObject;
export interface JsonObject {
  [field: string]: JsonValue;
}

/** Four megabytes of JSON: read for the first example, then kept by `require`. */
const knownExamples = () =>
  require('@octokit/webhooks-examples') as readonly {
    readonly name: string;
    readonly examples: readonly JsonObject[];
  }[];

/**
 * A payload as GitHub sends it, collected by Octokit, with some fields changed. A queued job is
 * queued now: one of years ago would not count as demand.
 *
 * `overrides` is merged in at any depth: objects field by field, all else (arrays too) replaced,
 * undefined removed. The caller may change the payload.
 */
export function examplePayload(
  event: string,
  action: string | undefined,
  overrides: JsonObject = {},
): JsonObject {
  const examples = knownExamples().find(({ name }) => name === event)?.examples ?? [];
  const example = examples.find((candidate) => candidate['action'] === action);
  if (example === undefined)
    throw new Error(`There is no example of ${event} with the action ${action}.`);
  const isQueued = event === 'workflow_job' && action === 'queued';
  return merge(merge(structuredClone(example), isQueued ? queuedNow() : {}), overrides);
}

function queuedNow(): JsonObject {
  const now = `${new Date().toISOString().slice(0, -5)}Z`;
  return { workflow_job: { created_at: now, started_at: now } };
}

function merge(target: JsonObject, changes: JsonObject): JsonObject {
  for (const [field, change] of Object.entries(changes)) {
    const present = target[field];
    if (change === undefined) delete target[field];
    else
      target[field] =
        isObject(present) && isObject(change) ? merge(present, change) : structuredClone(change);
  }
  return target;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
