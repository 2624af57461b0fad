import { isSigned } from '@paddock/github/signature';
import type { AppSecrets } from './config.ts';
import type { DeliveryHeaders } from './read-headers.ts';

/**
 * The App that sent a body, or undefined: no such App, or a wrong signature; an outsider cannot tell which. Where GitHub names no App, it
 * can only be the one that there is.
 */
export function verifyDelivery(apps: readonly AppSecrets[], { target, signature }: DeliveryHeaders, body: Buffer): number | undefined {
  const app = target === undefined && apps.length === 1 ? apps[0] : apps.find(({ id }) => String(id) === target);
  if (app === undefined) return undefined;
  const secrets = app.secrets.map((secret) => secret.reveal());
  return isSigned(body, signature, secrets) ? app.id : undefined;
}
