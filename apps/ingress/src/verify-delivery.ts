import { isSigned } from '@paddock/github/signature';
import type { AppSecrets } from './config.ts';
import type { DeliveryHeaders } from './read-headers.ts';

/**
 * The App that sent a body, or undefined: no such App, or a wrong signature; an outsider cannot tell which. Where GitHub names no App, it
 * can only be the one that there is.
 */
export function verifyDelivery(apps: readonly AppSecrets[], { target, signature }: DeliveryHeaders, body: Buffer): number | undefined {
  const app = appOf(apps, target);
  if (app === undefined) return undefined;
  const secrets = app.secrets.map((secret) => secret.reveal());
  return isSigned(body, signature, secrets) ? app.id : undefined;
}

/** Which of the two it was, for the log and never for the sender: what has to be corrected in the configuration, or at GitHub. */
export function whyUnverified(apps: readonly AppSecrets[], target: string | undefined): string {
  const app = appOf(apps, target);
  if (app !== undefined)
    return `The signature does not match: the webhook secret of App ${app.id} is another one at GitHub, or the sender is not GitHub.`;
  if (target === undefined) return 'The header X-GitHub-Hook-Installation-Target-ID is missing, and several Apps are configured.';
  return `No App ${target.slice(0, LONGEST_ID)} is configured: it is another App's webhook, or one of a repository or an organisation.`;
}

/** Of what is shown of an id that nobody has vouched for. */
const LONGEST_ID = 20;

const appOf = (apps: readonly AppSecrets[], target: string | undefined): AppSecrets | undefined =>
  target === undefined && apps.length === 1 ? apps[0] : apps.find(({ id }) => String(id) === target);
