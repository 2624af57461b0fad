import type { GitHub } from './connect.ts';
import { classifyGitHubError, isUnanswered } from './errors.ts';

/**
 * Asks GitHub for the rate limits of one of our Apps, which counts against none and is about
 * nobody's installation. Resolves to undefined if GitHub answers, else to why not. Throws if it
 * cannot ask: GitHub has asked all Apps to wait, or we cannot find out whether it has.
 */
export async function probeGitHub(
  github: Pick<GitHub, 'appIds' | 'asApp'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  let unasked: unknown;
  for (const appId of github.appIds) {
    try {
      await github.asApp(appId, { signal }).octokit.request('GET /rate_limit');
      return undefined;
    } catch (error) {
      const failure = classifyGitHubError(error);
      if (failure.kind === 'rate_limited' && failure.neverSent === true) unasked = error;
      else return isUnanswered(failure) ? failure.message : undefined;
    }
  }
  throw unasked;
}
