import { z } from 'zod';
import type { Flow } from './oidc.ts';

/** A sign-in between its beginning and its end, and where its person wanted to go. */
export interface Begun extends Flow {
  /** A path of the page, as `/jobs/7`. */
  readonly to: string;
}

const begun = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string().startsWith('/'),
});

/** Longest time at the provider. */
const LASTS_SECONDS = 600;

/**
 * The header that keeps a sign-in in the browser until its end, or takes it back. `Lax`, because
 * the provider's site sends the browser back. Its secrets are those of this browser's own sign-in.
 */
export function flowCookie(value: Begun | undefined, isSecure: boolean): string {
  const text = value === undefined ? '' : Buffer.from(JSON.stringify(value)).toString('base64url');
  const age = value === undefined ? 0 : LASTS_SECONDS;
  return `${nameOf(isSecure)}=${text}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${isSecure ? '; Secure' : ''}`;
}

/** The sign-in that this browser began. Undefined: none, or it took too long. */
export function begunIn(cookies: string | undefined, isSecure: boolean): Begun | undefined {
  const pattern = new RegExp(`(?:^|;\\s*)${nameOf(isSecure)}=([\\w-]+)`);
  const [, text] = pattern.exec(cookies ?? '') ?? [];
  if (text === undefined) return undefined;
  try {
    return begun.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    return undefined; // somebody else wrote it
  }
}

const nameOf = (isSecure: boolean): string =>
  isSecure ? '__Host-paddock-sign-in' : 'paddock-sign-in';
