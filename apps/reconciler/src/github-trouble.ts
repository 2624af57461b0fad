import type { GitHubFailure } from '@paddock/github/errors';

/** So many objects in a row without a usable answer, and GitHub is taken to be away. */
export const OUTAGES_AT_MOST = 3;

/** What a pass has seen of GitHub's failures: it asks no more where it would only be refused again. */
export interface GitHubTrouble {
  /** True where another call is of no use in this pass. */
  isPointless(installationId: number): boolean;
  /**
   * True if the failure is one of the installation itself, so that all of its objects share it. Failures `about` the same object count as one
   * outage; without it each is one.
   */
  note(installationId: number, failure: GitHubFailure, about?: string): boolean;
  answered(): void;
}

export function createGitHubTrouble(): GitHubTrouble {
  const refused = new Set<number>();
  const withoutAnswer = new Set<string | symbol>();
  return {
    isPointless: (installationId) => withoutAnswer.size >= OUTAGES_AT_MOST || refused.has(installationId),
    note(installationId, { kind, operation }, about) {
      const isOutage = kind === 'unavailable' || kind === 'timeout' || kind === 'network';
      if (isOutage) withoutAnswer.add(about ?? Symbol('an object of its own'));
      else withoutAnswer.clear();
      // Where no token is to be had the installation is gone; any other 404 is of the object.
      const isGone = kind === 'not_found' && operation.endsWith('/access_tokens');
      const isRefusal = isGone || kind === 'unauthorized' || kind === 'forbidden' || kind === 'rate_limited';
      if (isRefusal) refused.add(installationId);
      return isRefusal && kind !== 'rate_limited';
    },
    answered() {
      withoutAnswer.clear();
    },
  };
}
