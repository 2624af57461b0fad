import type { GitHub } from './connect.ts';
import { classifyGitHubError, isUnanswered } from './errors.ts';

/**
 * Asks GitHub for the rate limits of one of our Apps, which counts against none and is about no
 * installation. Where GitHub has asked all Apps to wait, it asks without credentials: the
 * wait may be from an outage that is over. Resolves to undefined if GitHub answers, else to why not.
 * Throws if we cannot find out whether we may ask.
 */
export async function probeGitHub(
  github: Pick<GitHub, 'appIds' | 'asApp' | 'asNobody'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const asks = [
    ...github.appIds.map((appId) => () => github.asApp(appId, { signal }).octokit),
    () => github.asNobody({ signal }),
  ];
  for (const ask of asks) {
    try {
      await ask().request('GET /rate_limit');
      return undefined;
    } catch (error) {
      const failure = classifyGitHubError(error);
      if (failure.neverSent === true && failure.kind === 'rate_limited') continue;
      return isUnanswered(failure) ? failure.message : undefined;
    }
  }
  return undefined;
}
