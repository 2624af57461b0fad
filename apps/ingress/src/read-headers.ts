import type { IncomingHttpHeaders } from 'node:http';

/** What GitHub says of a delivery beside its body; none of it is signed. */
export interface DeliveryHeaders {
  readonly event: string;
  readonly guid: string;
  readonly signature: string;
  /** The App's id, as text; undefined where GitHub does not say, as old GitHub Enterprise Servers do. */
  readonly target: string | undefined;
}

const EVENT = /^[a-z][a-z0-9_]{0,99}$/;
const GUID = /^[\x21-\x7e]{1,100}$/;

/** Reads the headers that every delivery has, or says which is missing or malformed (B1). A signature by SHA-1 alone counts as none. */
export function readHeaders(headers: IncomingHttpHeaders): DeliveryHeaders | { readonly problem: string } {
  const event = single(headers['x-github-event']);
  const guid = single(headers['x-github-delivery']);
  const signature = single(headers['x-hub-signature-256']);
  if (event === undefined || !EVENT.test(event)) return { problem: 'The header X-GitHub-Event is missing or malformed.' };
  if (guid === undefined || !GUID.test(guid)) return { problem: 'The header X-GitHub-Delivery is missing or malformed.' };
  if (signature === undefined) return { problem: 'The header X-Hub-Signature-256 is missing: set a webhook secret in the GitHub App.' };
  return { event, guid, signature, target: single(headers['x-github-hook-installation-target-id']) };
}

const single = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
