import { createAppAuth } from '@octokit/auth-app';
import { RequestError } from '@octokit/request-error';
import type { Octokit } from '@octokit/rest';
import { parsePrivateKey, signAppJwt } from './app-jwt.ts';

/** What one App proves itself with. */
export type Credentials = {
  /** A fresh JSON web token. */
  readonly appToken: () => Promise<string>;
  /** An installation's token, minted when there is none or its hour is nearly over. Rejects as the minting call failed. */
  readonly installationToken: (installationId: number) => Promise<string>;
  /** GitHub refused this token before its time: the next call mints another. */
  readonly drop: (installationId: number, token: string) => void;
  /** Learns from a refusal how far GitHub's clock and ours are apart. */
  readonly noteClock: (refusal: RequestError) => void;
};

type App = { readonly appId: number; readonly privateKey: string };

/** Less than this is the network's delay, and the Date header's whole seconds. */
const TOLERATED_SKEW_MS = 5000;

/**
 * Tokens are cached by `@octokit/auth-app`, for a minute less than GitHub's hour; minting for one installation is done once for all who wait.
 * Its request hook is not used: it repeats a refused call after sleeping, and both are the task queue's to decide.
 */
export function openCredentials({ appId, privateKey }: App, octokit: Octokit, now: () => number): Credentials {
  const key = parsePrivateKey(appId, privateKey);
  const dropped = new Map<number, string>();
  let skewMs = 0;

  const noteClock = ({ status, response }: RequestError) => {
    if (status !== 401) return;
    const theirs = Date.parse(String(response?.headers.date));
    const skew = theirs - now();
    if (Math.abs(skew) > TOLERATED_SKEW_MS) skewMs = skew;
  };
  octokit.hook.error('request', (error) => {
    if (error instanceof RequestError) noteClock(error);
    throw error;
  });
  const auth = createAppAuth({
    appId,
    createJwt: () => Promise.resolve(signAppJwt(appId, key, now() + skewMs)),
    request: octokit.request,
    log: { warn: () => undefined },
  });

  return {
    appToken: async () => (await auth({ type: 'app' })).token,
    async installationToken(installationId) {
      const { token } = await auth({ type: 'installation', installationId });
      if (token !== dropped.get(installationId)) return token;
      dropped.delete(installationId);
      return (await auth({ type: 'installation', installationId, refresh: true })).token;
    },
    drop: (installationId, token) => void dropped.set(installationId, token),
    noteClock,
  };
}
