import type { IncomingHttpHeaders } from 'node:http';
import { parseSession, type SessionParts } from '@paddock/api/sessions/sessions';

/** Browsers take a name with this prefix from this very host only, and only over TLS. */
const SECURE_NAME = '__Host-paddock';

/** Without TLS, as on one’s own machine. */
const PLAIN_NAME = 'paddock';

/** The secure one first: a neighbouring host could have set the other. */
const COOKIES = [SECURE_NAME, PLAIN_NAME].map(
  (name) => new RegExp(`(?:^|;\\s*)${name}=([^;\\s]*)`),
);

/** Acts by cookie need this header: no other site can send it without asking first. */
const PAGE_HEADER = 'x-paddock-page';

/**
 * Whether a request is one that the page, or a tool, sends by itself. Browsers add cookies, and
 * proxies names, also to those that another site caused.
 */
export function isFromPage(method: string, headers: IncomingHttpHeaders): boolean {
  const isReading = method === 'GET' || method === 'HEAD';
  const { 'sec-fetch-site': site = 'same-origin' } = headers;
  // `none`: a person typed the address.
  const isOurs = site === 'same-origin' || (isReading && site === 'none');
  return isOurs && (isReading || headers[PAGE_HEADER] !== undefined);
}

/** Undefined: the request has no session, or another site caused it. */
export function sessionOf(method: string, headers: IncomingHttpHeaders): SessionParts | undefined {
  if (!isFromPage(method, headers)) return undefined;
  const [text = ''] = COOKIES.flatMap((cookie) => cookie.exec(headers.cookie ?? '')?.[1] ?? []);
  return parseSession(text);
}

/**
 * The header that gives a session to the browser. It has no end: the session's row has. A proxy
 * speaks TLS for us, and only the browser knows: `origin` says where its page is from, as
 * `https://ci.example`.
 */
export function cookieWith(session: string, origin = ''): string {
  const isSecure = origin.startsWith('https:');
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  return `${name}=${session}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

/** The header that takes it back. */
export const cookieWithout = (origin?: string): string => `${cookieWith('', origin)}; Max-Age=0`;
