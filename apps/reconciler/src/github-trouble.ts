import type { GitHubFailure } from '@paddock/github/errors';

/** So many calls in a row without a usable answer, and GitHub is taken to be away. */
const OUTAGES_AT_MOST = 3;

/** What a pass has seen of GitHub's failures: it asks no more where it would only be refused again. */
export interface GitHubTrouble {
  /** True where another call is of no use in this pass. */
  isPointless(installationId: number): boolean;
  /** True if the failure is one of the installation itself, so that all of its objects share it. */
  note(installationId: number, failure: GitHubFailure): boolean;
  answered(): void;
}

export function createGitHubTrouble(): GitHubTrouble {
  const refused = new Set<number>();
  let outages = 0;
  return {
    isPointless: (installationId) => outages >= OUTAGES_AT_MOST || refused.has(installationId),
    note(installationId, { kind }) {
      const isOutage = kind === 'unavailable' || kind === 'timeout' || kind === 'network';
      outages = isOutage ? outages + 1 : 0;
      const isRefusal = kind === 'unauthorized' || kind === 'forbidden' || kind === 'rate_limited';
      if (isRefusal) refused.add(installationId);
      return isRefusal && kind !== 'rate_limited';
    },
    answered() {
      outages = 0;
    },
  };
}
