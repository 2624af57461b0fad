import { randomUUID } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';

export { examplePayload, type JsonObject } from './example-payload.ts';

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
