import type { IncomingMessage } from 'node:http';
import { type AccessOf, beginSession, type Identity } from '@paddock/api/sessions/sessions';
import type { Db } from '@paddock/db/schema/tables';
import type { Request } from 'express';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  type Configuration,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { z } from 'zod';
import { type Answered, BUSY, nothingThere } from '../http/answer.ts';
import { createPlaces } from '../places.ts';
import { cookieWith } from './cookies.ts';
import { identityOf } from './identity.ts';
import type { OidcOptions } from './sign-in-file.ts';

interface SignInOptions {
  readonly oidc: OidcOptions;
  readonly accessOf: AccessOf;
  readonly db: Db;
}

/** Sign-ins at a time that ask the provider. Anybody may begin one. */
const MOST = 20;

/** Of one request to the provider. */
const TIMEOUT_SECONDS = 10;

export type SignInStep = 'begin' | 'callback';

export type AnswerSignIn = (request: Request, step: SignInStep) => Promise<Answered>;

/**
 * Signs in by an OpenID Connect provider (authorization code with PKCE): sends a browser there
 * (`/sign-in/begin?to=PATH`), and begins a session when it comes back (`/sign-in/callback`). Whoever
 * cannot sign in comes back to the page, whose address then says why: `?sign-in=refused`, or
 * `failed`. Never rejects.
 */
export function createAnswerSignIn({ oidc, accessOf, db }: SignInOptions): AnswerSignIn {
  const { url } = oidc;
  const isSecure = url.startsWith('https:');
  const redirectUri = `${url}/sign-in/callback`;
  const take = createPlaces({ most: MOST, mostEach: MOST });
  // Asked at the first sign-in: the console starts without the provider.
  let found: Promise<Configuration> | undefined;
  const configuration = (): Promise<Configuration> =>
    (found ??= discover(oidc).catch((error: unknown) => {
      found = undefined;
      throw error;
    }));

  async function begin(to: string): Promise<Answered> {
    const config = await configuration();
    const flow = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const { href } = buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: oidc.scopes.join(' '),
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    });
    return redirect(href, [flowCookie(isSecure, { ...flow, to })]);
  }

  async function finish({ headers, url: search }: IncomingMessage): Promise<Answered> {
    const begun = begunIn(headers.cookie, isSecure);
    const back = new URL(search ?? '', redirectUri);
    // Another browser began it, or nobody did. The provider would be asked in vain.
    if (begun === undefined || back.searchParams.get('state') !== begun.state) return end('failed');
    const identity = await whom(new URL(redirectUri + back.search), begun);
    const { person } = identity;
    if (accessOf(identity.groups) === undefined) return { ...end('refused'), person };
    const session = await beginSession(db, identity);
    return {
      person,
      ...redirect(url + begun.to, [cookieWith(session, url), flowCookie(isSecure)]),
    };
  }

  /** Whom the provider vouches for. Rejects if the answer is not one to this flow. */
  async function whom(back: URL, { state, nonce, verifier }: Begun): Promise<Identity> {
    const config = await configuration();
    const tokens = await authorizationCodeGrant(config, back, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims: Record<string, unknown> = { ...tokens.claims() };
    const isIncomplete = !(oidc.nameClaim in claims && oidc.groupsClaim in claims);
    // Some providers keep groups out of the ID token.
    if (isIncomplete && config.serverMetadata().userinfo_endpoint !== undefined) {
      const more = await fetchUserInfo(config, tokens.access_token, String(claims['sub']));
      Object.assign(claims, { ...more, ...claims });
    }
    return identityIn(claims, oidc);
  }

  const end = (why: 'refused' | 'failed'): Answered =>
    redirect(`${url}/?sign-in=${why}`, [flowCookie(isSecure)]);

  return async (request, step) => {
    if (request.method !== 'GET') return { reply: nothingThere(['GET']) };
    const leave = await take('');
    if (leave === undefined) return { reply: BUSY };
    const { to } = request.query;
    try {
      if (step === 'callback') return await finish(request);
      return await begin(typeof to === 'string' && to.startsWith('/') ? to : '/');
    } catch (error) {
      return { ...end('failed'), error: withoutSecrets(error) };
    } finally {
      leave();
    }
  };
}

const redirect = (location: string, cookies: string[]): Answered => ({
  reply: { status: 303, headers: { location, 'set-cookie': cookies }, text: '' },
});

function discover({ issuer, clientId, clientSecret }: OidcOptions): Promise<Configuration> {
  const isPlain = issuer.startsWith('http:'); // the settings allow it on this machine only
  return discovery(
    new URL(issuer),
    clientId,
    undefined,
    // Every provider must take it in the header (RFC 6749, 2.3.1).
    clientSecret === undefined ? None() : ClientSecretBasic(clientSecret.reveal()),
    { timeout: TIMEOUT_SECONDS, ...(isPlain && { execute: [allowInsecureRequests] }) },
  );
}

function identityIn(
  claims: Readonly<Record<string, unknown>>,
  { nameClaim, groupsClaim }: OidcOptions,
): Identity {
  if (nameClaim === 'email' && claims['email_verified'] === false)
    throw new Error('the provider has not verified the address in the claim email');
  const groups = claims[groupsClaim] ?? [];
  const identity = identityOf(claims[nameClaim], Array.isArray(groups) ? groups : [groups]);
  if (identity === undefined)
    throw new Error(
      `the claim ${nameClaim} names nobody: set oidc.nameClaim to one that does, and oidc.scopes to the scope that gives it`,
    );
  return identity;
}

type Failure = Readonly<Partial<Record<'code' | 'error' | 'error_description', unknown>>>;

/** Whom to blame, in words alone: the library's errors hold the provider's answers, with codes and tokens. */
function withoutSecrets(error: unknown): Error {
  const told = new Set<unknown>();
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    // Of the library, of `fetch`, or of a provider that refuses.
    const { message, code, error: refusal, error_description: why }: Error & Failure = at;
    for (const part of [message, code, refusal, why]) if (typeof part === 'string') told.add(part);
  }
  return new Error(`signing in by the identity provider failed: ${[...told].join('; ')}`);
}

/** A sign-in between its beginning and its end: its secrets, and where its person wanted to go. */
type Begun = z.output<typeof begun>;

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
function flowCookie(isSecure: boolean, value?: Begun): string {
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
