import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { createAppAuth } from '@octokit/auth-app';
import { RequestError } from '@octokit/request-error';
import type { Octokit } from '@octokit/rest';
import { ConfigError } from '@paddock/runtime/config-error';
import { OutdatedCredentialsError } from './errors.ts';

/** The authorization of one call. */
export type Token = {
  /** The value of the header. */
  readonly authorization: string;
  /** GitHub accepted it. */
  readonly accepted: () => void;
  /** GitHub refused it (401). True: the next call may do better. */
  readonly refused: (refusal: RequestError) => boolean;
};

/** The credentials of one App. */
export type Credentials = {
  /** A JSON web token with minutes to live. */
  readonly ofApp: () => Promise<Token>;
  /**
   * An installation's token, minted when there is none or its hour is nearly over. Rejects as the
   * minting call failed.
   */
  readonly ofInstallation: (installationId: number) => Promise<Token>;
};

/** Authorizes each call of a client. A refusal after which the next call may do better says so. */
export function authorize(octokit: Octokit, tokenOf: () => Promise<Token>): void {
  octokit.hook.wrap('request', async (request, options) => {
    const { authorization, accepted, refused } = await tokenOf();
    options.headers.authorization = authorization;
    try {
      const response = await request(options);
      accepted();
      return response;
    } catch (error) {
      if (error instanceof RequestError && error.status === 401 && refused(error))
        throw new OutdatedCredentialsError(error);
      throw error;
    }
  });
}

type App = { readonly appId: number; readonly privateKey: string };

/** The installation id of an entity without a known installation. */
const UNKNOWN_INSTALLATION = 0;
const NOWHERE_INSTALLED = 'No delivery has named an installation of the App for this entity';

/** A call that is not made fails as GitHub would refuse it, so that callers handle both alike. */
function refuseToken(installationId: number, status: 401 | 404, message: string): RequestError {
  const url = `/app/installations/${installationId}/access_tokens`;
  return new RequestError(message, status, {
    request: { method: 'POST', url, headers: {} },
    response: { status, url, headers: {}, data: {} },
  });
}

/** For an App that is not configured here: throws, as GitHub refuses an App with a wrong key. */
export function refuseUnconfigured(appId: number, installationId = UNKNOWN_INSTALLATION): never {
  throw refuseToken(
    installationId,
    401,
    `GitHub App ${appId} is not among the configured Apps: add its id and private key.`,
  );
}

/** By then all of GitHub knows a new token. `@octokit/auth-app` waits as long. */
const SPREADS_MS = 5000;

/** A smaller difference is the network's delay, and the Date header's whole seconds. */
const TOLERATED_SKEW_MS = 5000;

/** An installation's newest token. */
interface Minted {
  readonly token: string;
  readonly since: number;
  /** GitHub has accepted it. */
  isProven: boolean;
  /** The next call mints another. */
  isDropped: boolean;
}

/**
 * `octokit` mints. `@octokit/auth-app` caches tokens for a minute less than GitHub's hour, and mints
 * once for simultaneous callers. We do not use its request hook: the hook sleeps and repeats a
 * refused call, and the task queue decides about both.
 */
export function openCredentials(
  { appId, privateKey }: App,
  octokit: Octokit,
  now: () => number,
): Credentials {
  const key = parsePrivateKey(appId, privateKey);
  const clock = createClock(now);
  const newest = new Map<number, Minted>();
  let signed = { reading: 0, second: Number.NaN, token: { jwt: '', expiresAt: '' } };
  /** GitHub's ETags hold for the token that got them, so one serves for a while. */
  const jwtOfApp = () => {
    const reading = clock.readings();
    const second = Math.floor(clock.now() / 1000);
    const isGood = second >= signed.second && second < signed.second + REUSED_SECONDS;
    if (!isGood || reading !== signed.reading)
      signed = { reading, second, token: signAppJwt(appId, key, second * 1000) };
    return signed.token;
  };
  const ofApp = (): Promise<Token> =>
    Promise.resolve({
      authorization: `bearer ${jwtOfApp().jwt}`,
      accepted: () => undefined,
      refused: clock.beginCall(),
    });
  authorize(octokit, ofApp);
  const auth = createAppAuth({
    appId,
    createJwt: () => Promise.resolve(jwtOfApp()),
    request: octokit.request,
    log: { warn: () => undefined },
  });

  const tokenOf = async (installationId: number): Promise<string> => {
    if (installationId === UNKNOWN_INSTALLATION)
      throw refuseToken(installationId, 404, NOWHERE_INSTALLED);
    const { token } = await auth({ type: 'installation', installationId });
    const known = newest.get(installationId);
    if (known?.token !== token || !known.isDropped) return token;
    known.isDropped = false;
    return (await auth({ type: 'installation', installationId, refresh: true })).token;
  };

  return {
    ofApp,
    async ofInstallation(installationId) {
      const token = await tokenOf(installationId);
      const known = newest.get(installationId);
      const minted =
        known?.token === token ? known : { token, since: now(), isProven: false, isDropped: false };
      newest.set(installationId, minted);
      return {
        authorization: `token ${token}`,
        accepted: () => void (minted.isProven = true),
        refused() {
          if (newest.get(installationId) !== minted) return true;
          // Not all of GitHub knows it yet: the next call uses it again.
          if (!minted.isProven && now() - minted.since < SPREADS_MS) return true;
          minted.isDropped = true;
          // If GitHub never accepted it, another would hardly do better.
          return minted.isProven;
        },
      };
    },
  };
}

/** GitHub's clock, as far as refused calls have shown it. `ours`: milliseconds since the epoch. */
function createClock(ours: () => number) {
  let skewMs = 0;
  let readings = 0;
  return {
    now: () => ours() + skewMs,
    /** How often it has been read anew. */
    readings: () => readings,
    /** Call it when a call begins. The result says of its refusal (401) whether its time was wrong. */
    beginCall() {
      const before = readings;
      return ({ response }: RequestError): boolean => {
        const skew = Date.parse(String(response?.headers.date)) - ours();
        if (Math.abs(skew - skewMs) > TOLERATED_SKEW_MS) {
          skewMs = skew;
          readings++;
        }
        // Of several calls that began with the wrong time, one learns the right time for all.
        return before < readings;
      };
    },
  };
}

/**
 * GitHub refuses App tokens that live longer than ten minutes. A minute less leaves room for clocks
 * that differ.
 */
const LIFE_SECONDS = 540;
const REUSED_SECONDS = 120;
/** Dated back: GitHub refuses a token from the future. */
export const BACKDATED_SECONDS = 30;

/**
 * Reads an App's private key (PEM, PKCS#1 as GitHub hands it out, or PKCS#8). Variables often hold
 * it in base64, or with line breaks written as \n. Throws a ConfigError that does not quote the key:
 * the platform's error for an unreadable key would help no reader.
 */
export function parsePrivateKey(appId: number, given: string): KeyObject {
  const pem = given.includes(BEGIN) ? given : Buffer.from(given, 'base64').toString();
  try {
    const key = createPrivateKey(pem.replaceAll(/\\r|\r/g, '').replaceAll(String.raw`\n`, '\n'));
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // What stands there is said below.
  }
  const what = KINDS.find(([pattern]) => pattern.test(pem))?.[1] ?? 'cannot be read';
  throw new ConfigError([
    `The private key of GitHub App ${appId} ${what}: give the PEM file that GitHub handed out, as it is`,
  ]);
}

const BEGIN = '-----BEGIN ';

/** What people give in place of the key, by what stands in it. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/ENCRYPTED/, 'is encrypted with a passphrase, which Paddock cannot ask for'],
  [/BEGIN (?:RSA )?PUBLIC KEY/, 'is a public key'],
  [/BEGIN (?:EC|OPENSSH) PRIVATE KEY/, 'is no RSA key in PEM'],
];

/** An App's JSON web token (RS256). `now`: milliseconds since the epoch, by GitHub's clock. */
export function signAppJwt(
  appId: number,
  key: KeyObject,
  now: number,
): { readonly jwt: string; readonly expiresAt: string } {
  const iat = Math.floor(now / 1000) - BACKDATED_SECONDS;
  const exp = iat + LIFE_SECONDS;
  const content = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iat, exp, iss: String(appId) })}`;
  const signature = sign('RSA-SHA256', Buffer.from(content), key).toString('base64url');
  return { jwt: `${content}.${signature}`, expiresAt: new Date(exp * 1000).toISOString() };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
