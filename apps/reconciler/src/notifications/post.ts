import { asRecord } from '@paddock/domain/pools/as-record';
import { notificationsPart } from '@paddock/domain/pools/config-file';
import { readSecret } from '@paddock/runtime/secret';
import type { Environment } from '@paddock/runtime/settings';
import { readYamlFile } from '@paddock/runtime/yaml-file';

/** Where people are told: an address, why there is none, or that nobody asked for it. */
export type Webhook = { readonly url: URL } | { readonly problem: string } | undefined;

/** The webhook of notifications as the configuration file and its secret are now. */
export function readWebhook(path: string, environment: Environment): Webhook {
  const { value, problems } = readYamlFile(path, notificationsPart);
  const source = value?.notifications?.webhook;
  if (value !== undefined && source === undefined) return undefined;
  const what = 'The webhook of notifications';
  const secret = source && readSecret(what, source, environment, problems);
  const url = secret && URL.parse(secret.reveal());
  if (url && /^https?:$/.test(url.protocol)) return { url };
  // The address is a secret: it is not shown.
  if (secret !== undefined) problems.push(`${what} is no address such as https://…`);
  return { problem: problems.join('; ') };
}

/** How long the receiver may take. */
const TIMEOUT_MS = 5_000;

/** Posts what is told. Returns why it was not accepted; the address is a secret, and not shown. */
export async function post(
  url: URL,
  told: object,
  signal: AbortSignal,
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(told),
      // Another address would learn what was meant for this one.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `the webhook answered ${response.status}`;
  } catch (error) {
    if (timeout.aborted) return `the webhook gave no answer for ${TIMEOUT_MS / 1_000} s`;
    const { code } = asRecord(asRecord(error)['cause']);
    return `the webhook cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`;
  }
}
