import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isSigned } from '@paddock/github/signature';
import type { AppSecrets } from './settings.ts';

/** A delivery's headers. GitHub signs none. */
export interface DeliveryHeaders {
  readonly event: string;
  readonly guid: string;
  readonly signature: string;
  /** The App's id as text; undefined from old GitHub Enterprise Servers. */
  readonly target: string | undefined;
}

const EVENT = /^[a-z][a-z0-9_]{0,99}$/;
const GUID = /^[\x21-\x7e]{1,100}$/;

/** Reads the headers, or says which is missing or malformed. A SHA-1 signature does not count. */
export function readHeaders(
  headers: IncomingHttpHeaders,
): DeliveryHeaders | { readonly problem: string } {
  const event = single(headers['x-github-event']);
  const guid = single(headers['x-github-delivery']);
  const signature = single(headers['x-hub-signature-256']);
  if (event === undefined || !EVENT.test(event))
    return { problem: 'The header X-GitHub-Event is missing or malformed.' };
  if (guid === undefined || !GUID.test(guid))
    return { problem: 'The header X-GitHub-Delivery is missing or malformed.' };
  if (signature === undefined)
    return {
      problem: 'The header X-Hub-Signature-256 is missing: set a webhook secret in the GitHub App.',
    };
  return {
    event,
    guid,
    signature,
    target: single(headers['x-github-hook-installation-target-id']),
  };
}

const single = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Used for unknown Apps, so that their bodies take the same time to verify. */
const UNKNOWN_SECRET = randomBytes(32).toString('hex');

/**
 * The id of the App that sent a body. Undefined: unknown App or wrong signature. A sender cannot
 * tell which, neither by the answer nor by its time. Without a named App, the only configured one
 * counts.
 */
export async function verifyDelivery(
  apps: readonly AppSecrets[],
  { target, signature }: DeliveryHeaders,
  body: Buffer,
): Promise<number | undefined> {
  const app = appOf(apps, target);
  const secrets = app?.secrets.map((secret) => secret.reveal()) ?? [UNKNOWN_SECRET];
  return (await isSigned(body, signature, secrets)) ? app?.id : undefined;
}

/**
 * Why a signature was refused, for the log, never for the sender: the App that the sender names
 * (ours, another, or none), and the correction to make in the configuration or at GitHub.
 */
export function whyUnverified(
  apps: readonly AppSecrets[],
  target: string | undefined,
): { readonly kind: string; readonly reason: string } {
  const app = appOf(apps, target);
  if (app !== undefined)
    return {
      kind: `App ${app.id}`,
      reason: `The signature does not match: GitHub has another webhook secret for App ${app.id}, or the sender is not GitHub.`,
    };
  return target === undefined
    ? {
        kind: 'none',
        reason:
          'The header X-GitHub-Hook-Installation-Target-ID is missing, and several Apps are configured.',
      }
    : {
        kind: 'another',
        reason: `App ${target.slice(0, LONGEST_ID)} is not configured: the webhook belongs to another App, to a repository or to an organisation.`,
      };
}

/** Most characters to log of an unverified id. */
const LONGEST_ID = 20;

const appOf = (apps: readonly AppSecrets[], target: string | undefined): AppSecrets | undefined =>
  target === undefined && apps.length === 1
    ? apps[0]
    : apps.find(({ id }) => String(id) === target);
