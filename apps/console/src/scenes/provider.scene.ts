import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import type { Configuration, Provider } from 'oidc-provider';

/** What the provider knows of a person. */
export interface Person {
  readonly email: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  /** Whoever signs in next is this person. Undefined: somebody who does not want to. */
  signsIn(person: Person | undefined): void;
  stop(): Promise<void>;
}

/** Where browsers would find the console. */
export const PUBLIC_URL = 'https://paddock.example/tools';

export const CLIENT = { id: 'paddock', secret: 'the-secret-of-the-client-is-long' };

/** A certified OpenID Connect provider on this machine, at which nobody has to type anything. */
export async function startProvider(port = 0): Promise<TestProvider> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  let next: Person | undefined;
  const people = new Map<string, Person>();
  const client = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [`${PUBLIC_URL}/sign-in/callback`],
    grant_types: ['authorization_code'],
  };
  const provider = await create(issuer, {
    clients: [client],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      Grant: 60,
      IdToken: 60,
      Interaction: 60,
      Session: 60,
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, ...people.get(sub) }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) {
      void handle(request, response);
      return;
    }
    const accountId = `person-${people.size + 1}`;
    if (next !== undefined) people.set(accountId, next);
    const result =
      next === undefined ? { error: 'access_denied' } : { login: { accountId, remember: false } };
    void provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: false,
    });
  });
  return {
    issuer,
    signsIn: (person) => (next = person),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** It warns of this Node, and that it keeps everything in memory, which is what tests want. */
async function create(issuer: string, configuration: Configuration): Promise<Provider> {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    const library = await import('oidc-provider');
    return new library.Provider(issuer, configuration);
  } finally {
    console.warn = warn;
  }
}
