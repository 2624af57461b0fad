import type { Identity } from '@paddock/api/sessions/sessions';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { identityOf } from './identity.ts';
import type { OidcOptions } from './sign-in-file.ts';

/** What a sign-in must show at its end that it was given at its beginning. */
export interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Sign-in by an OpenID Connect provider: authorization code with PKCE. */
export interface Oidc {
  /** Where to send the browser. Rejects if the provider cannot be reached. */
  begin(): Promise<{ readonly location: string; readonly flow: Flow }>;
  /**
   * Whom the provider vouches for. `search` is the query with which it sent the browser back.
   * Rejects if it refuses, if it cannot be reached, or if the answer is not one to this flow.
   */
  finish(search: string, flow: Flow): Promise<Identity>;
}

/** Of one request to the provider. */
const TIMEOUT_SECONDS = 10;

/** Asks the provider for its addresses at the first sign-in: the console starts without it. */
export function createOidc(options: OidcOptions): Oidc {
  let found: Promise<Configuration> | undefined;
  const configuration = async (): Promise<Configuration> => {
    found ??= discover(options);
    try {
      return await found;
    } catch (error) {
      found = undefined;
      throw error;
    }
  };
  const redirectUri = `${options.url}/sign-in/callback`;
  return {
    async begin() {
      const config = await configuration();
      const flow = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      };
      const location = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: options.scopes.join(' '),
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      });
      return { location: location.href, flow };
    },
    async finish(search, { state, nonce, verifier }) {
      const config = await configuration();
      const tokens = await authorizationCodeGrant(config, new URL(redirectUri + search), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims: Record<string, unknown> = { ...tokens.claims() };
      const { nameClaim, groupsClaim } = options;
      const isIncomplete = !(nameClaim in claims && groupsClaim in claims);
      // Some providers keep groups out of the ID token.
      if (isIncomplete && config.serverMetadata().userinfo_endpoint !== undefined) {
        const more = await fetchUserInfo(config, tokens.access_token, String(claims['sub']));
        Object.assign(claims, { ...more, ...claims });
      }
      return identityIn(claims, options);
    },
  };
}

function discover({ issuer, clientId, clientSecret }: OidcOptions): Promise<Configuration> {
  const isPlain = issuer.startsWith('http:'); // the settings allow it on this machine only
  return discovery(
    new URL(issuer),
    clientId,
    undefined,
    clientSecret === undefined ? None() : authenticate(clientSecret.reveal()),
    { timeout: TIMEOUT_SECONDS, ...(isPlain && { execute: [allowInsecureRequests] }) },
  );
}

/** In the header, which every provider must take, unless this one names other ways. */
const authenticate =
  (secret: string): ClientAuth =>
  (server, ...rest) => {
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const way = ways.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
    return way(secret)(server, ...rest);
  };

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
