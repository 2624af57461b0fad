import { randomBytes } from 'node:crypto';
import { isSigned } from '@paddock/github/signature';
import type { AppSecrets } from './config.ts';
import type { DeliveryHeaders } from './read-headers.ts';

/** Takes the place of the secret of an App that is not configured, so that a large body takes its time there too. */
const SECRET_OF_NOBODY = randomBytes(32).toString('hex');

/**
 * The App that sent a body, or undefined: no such App, or a wrong signature; an outsider cannot tell which, neither by the answer nor by how long
 * it takes. Where GitHub names no App, it can only be the one that there is.
 */
export function verifyDelivery(apps: readonly AppSecrets[], { target, signature }: DeliveryHeaders, body: Buffer): number | undefined {
  const app = appOf(apps, target);
  const secrets = app?.secrets.map((secret) => secret.reveal()) ?? [SECRET_OF_NOBODY];
  return isSigned(body, signature, secrets) ? app?.id : undefined;
}

/** Why a signature was refused, for the log and never for the sender. */
export interface Unverified {
  /** The App that the sender names: one of ours, another one, or none. */
  readonly kind: string;
  /** What has to be corrected in the configuration, or at GitHub. */
  readonly reason: string;
}

export function whyUnverified(apps: readonly AppSecrets[], target: string | undefined): Unverified {
  const app = appOf(apps, target);
  if (app !== undefined) {
    const reason = `The signature does not match: the webhook secret of App ${app.id} is another one at GitHub, or the sender is not GitHub.`;
    return { kind: `App ${app.id}`, reason };
  }
  if (target === undefined) {
    return { kind: 'none', reason: 'The header X-GitHub-Hook-Installation-Target-ID is missing, and several Apps are configured.' };
  }
  const named = target.slice(0, LONGEST_ID);
  return {
    kind: 'another',
    reason: `No App ${named} is configured: it is another App's webhook, or one of a repository or an organisation.`,
  };
}

/** Of what is shown of an id that nobody has vouched for. */
const LONGEST_ID = 20;

const appOf = (apps: readonly AppSecrets[], target: string | undefined): AppSecrets | undefined =>
  target === undefined && apps.length === 1 ? apps[0] : apps.find(({ id }) => String(id) === target);
