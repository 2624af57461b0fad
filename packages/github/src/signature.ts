import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { verify } from '@octokit/webhooks-methods';

/**
 * Whether `header` (X-Hub-Signature-256) is the HMAC-SHA256 of the raw body under one of the
 * secrets; there are several during a rotation. It refuses the older sha1 header, and anything
 * except `sha256=` and 64 lower-case hex digits. Throws when no usable secret is given: an empty
 * key would let anyone sign.
 */
export async function isSigned(
  rawBody: Buffer,
  header: string | undefined,
  secrets: readonly string[],
): Promise<boolean> {
  if (secrets.length === 0 || secrets.includes('')) {
    throw new Error(
      'Checking a webhook signature needs at least one secret and no empty ones: set the webhook secret of the GitHub App.',
    );
  }
  if (header === undefined || header === '') return false;
  // The library takes a text that is not empty, and no bytes.
  const text = isUtf8(rawBody) ? rawBody.toString('utf8') : '';
  let signed = false;
  for (const secret of secrets) {
    const fits =
      text === '' ? fitsBytes(secret, rawBody, header) : await verify(secret, text, header);
    // No early exit: the time taken must not show which secret matched.
    if (fits) signed = true;
  }
  return signed;
}

function fitsBytes(secret: string, bytes: Buffer, header: string): boolean {
  const given = Buffer.from(header);
  const right = Buffer.from(`sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`);
  return given.length === right.length && timingSafeEqual(given, right);
}
