import type { AppClient, InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';

/**
 * Whether GitHub answers. Asks for our rate limits, which counts against none. Every status below
 * 500 is an answer: an Enterprise Server may have no limits. Undefined: nothing was sent, because
 * GitHub has asked us to wait. False also once the client's signal has aborted. Throws only if it
 * cannot find out whether it may call GitHub.
 */
export async function answersProbe({
  octokit,
}: AppClient | InstallationClient): Promise<boolean | undefined> {
  try {
    await octokit.request('GET /rate_limit');
    return true;
  } catch (error) {
    const { kind, status, neverSent = false } = classifyGitHubError(error);
    if (kind === 'rate_limited' && neverSent) return undefined;
    return status !== undefined && kind !== 'unavailable';
  }
}
