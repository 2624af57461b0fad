import { createHmac, timingSafeEqual } from 'node:crypto';

const HEADER = /^sha256=([0-9a-f]{64})$/;

/**
 * Whether `header` (X-Hub-Signature-256) is the HMAC-SHA256 of the raw body under one of the
 * secrets. There are several secrets during a rotation; it tries all of them. It refuses the older
 * sha1 header, and anything except `sha256=` and 64 lower-case hex digits. Throws when no usable
 * secret is given: an empty key would let anyone sign.
 */
export function isSigned(
  rawBody: Buffer,
  header: string | undefined,
  secrets: readonly string[],
): boolean {
  if (secrets.length === 0 || secrets.includes('')) {
    throw new Error(
      'Checking a webhook signature needs at least one secret and no empty ones: set the webhook secret of the GitHub App.',
    );
  }
  const hex = header === undefined ? undefined : HEADER.exec(header)?.[1];
  if (hex === undefined) return false;
  const given = Buffer.from(hex, 'hex');
  let signed = false;
  for (const secret of secrets) {
    // No early exit: the time taken must not show which secret matched.
    if (timingSafeEqual(createHmac('sha256', secret).update(rawBody).digest(), given))
      signed = true;
  }
  return signed;
}
