import type { IncomingMessage } from 'node:http';
import { type AccessOf, beginSession } from '@paddock/api/sessions/sessions';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { type Answered, BUSY, nothingThere } from '../http/answer.ts';
import type { Reply } from '../http/reply.ts';
import { createPlaces } from '../places.ts';
import { cookieWith } from '../session/cookie.ts';
import type { Oidc, Flow } from './oidc.ts';

export interface SignInOptions {
  readonly oidc: Oidc;
  /** Where browsers find the page. */
  readonly publicUrl: string;
  readonly accessOf: AccessOf;
  readonly db: Kysely<Database>;
}

/** Sign-ins at a time that ask the provider. Anybody may begin one. */
const MOST = 20;

/** Of a sign-in by an identity provider. */
export type SignInStep = 'begin' | 'callback';

export type AnswerSignIn = (
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  step: SignInStep,
  query: URLSearchParams,
) => Promise<Answered>;

/**
 * Sends a browser to the identity provider (`/sign-in/begin?to=PATH`), and begins a session when it
 * comes back (`/sign-in/callback`). Whoever cannot sign in comes back to the page, whose address
 * then says why: `?sign-in=refused`, or `failed`. Never rejects.
 */
export function createAnswerSignIn(options: SignInOptions): AnswerSignIn {
  const { oidc, publicUrl, accessOf, db } = options;
  const isSecure = publicUrl.startsWith('https:');
  const places = createPlaces({ most: MOST, mostEach: MOST });

  async function begin(to: string): Promise<Answered> {
    const { location, flow } = await oidc.begin();
    return { reply: redirect(location, [flowCookie({ ...flow, to }, isSecure)]) };
  }

  async function finish(cookies: string | undefined, query: URLSearchParams): Promise<Answered> {
    const begun = begunIn(cookies, isSecure);
    // Another browser began it, or nobody did. The provider would be asked in vain.
    if (begun === undefined || query.get('state') !== begun.state) return back('failed');
    const identity = await oidc.finish(`?${query.toString()}`, begun);
    const { person } = identity;
    if (accessOf(identity.groups) === undefined) return { ...back('refused'), person };
    const session = await beginSession(db, identity);
    const headers = [cookieWith(session, publicUrl), flowCookie(undefined, isSecure)];
    return { person, reply: redirect(publicUrl + begun.to, headers) };
  }

  const back = (why: 'refused' | 'failed'): Answered => ({
    reply: redirect(`${publicUrl}/?sign-in=${why}`, [flowCookie(undefined, isSecure)]),
  });

  return async ({ method, headers }, step, query) => {
    if (method !== 'GET') return { reply: nothingThere(['GET']) };
    const leave = places.take('');
    if (leave === undefined) return { reply: BUSY };
    try {
      const to = query.get('to') ?? '/';
      return step === 'begin'
        ? await begin(to.startsWith('/') ? to : '/')
        : await finish(headers.cookie, query);
    } catch (error) {
      return { ...back('failed'), error: withoutSecrets(error) };
    } finally {
      leave();
    }
  };
}

const redirect = (location: string, cookies: string[]): Reply => ({
  status: 303,
  headers: { location, 'set-cookie': cookies },
  text: '',
});

/** Whom to blame, in words alone: the library's errors hold the provider's answers, with codes and tokens. */
function withoutSecrets(error: unknown): Error {
  const told = new Set<string>();
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message, code, error: refusal, error_description: why } = at as Failure;
    for (const part of [message, code, refusal, why]) if (typeof part === 'string') told.add(part);
  }
  return new Error(
    `signing in by the identity provider failed: ${[...told].join('; ') || 'it did not say why'}`,
  );
}

/** Of the library, of `fetch`, or of a provider that refuses. */
interface Failure {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
}

/** A sign-in between its beginning and its end, and where its person wanted to go. */
interface Begun extends Flow {
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
function flowCookie(value: Begun | undefined, isSecure: boolean): string {
  const text = value === undefined ? '' : Buffer.from(JSON.stringify(value)).toString('base64url');
  const age = value === undefined ? 0 : LASTS_SECONDS;
  return `${nameOf(isSecure)}=${text}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${isSecure ? '; Secure' : ''}`;
}

/** The sign-in that this browser began. Undefined: none, or it took too long. */
function begunIn(cookies: string | undefined, isSecure: boolean): Begun | undefined {
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
