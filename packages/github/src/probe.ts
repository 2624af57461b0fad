import type { AppClient, InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';

/**
 * Whether GitHub answers: asked for our rate limits, which counts against none. Every answer below
 * 500 is one, for an Enterprise Server may know no limits. Undefined: nothing was sent, for GitHub
 * has asked us to wait. False too once the client's signal has aborted. Throws only what keeps it
 * from being found out whether GitHub may be asked.
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
