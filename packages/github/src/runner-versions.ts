import type { InstallationClient } from './connect.ts';
import { foundOrNot } from './found-or-not.ts';
import type { RegistrationScope } from './scope.ts';

/** How long GitHub serves a version of the runner. */
export type VersionEnd = {
  /** From then on it gets no jobs; null: no end is set yet. */
  readonly endsAt: Date | null;
};

/**
 * GitHub has this endpoint since 2026-09-03, and Octokit's list of methods lacks it. We trust its
 * described answer.
 */

const OF_ORGANIZATION: string = 'GET /orgs/{org}/actions/runners/deprecations/{version}';
const OF_REPOSITORY: string = 'GET /repos/{owner}/{repo}/actions/runners/deprecations/{version}';

/**
 * When a version of the runner ends, as a scope's owner may ask. Undefined when GitHub answers 404:
 * it does not know the version, or it is an older Enterprise Server without this endpoint. Throws
 * what Octokit throws.
 */
export async function findVersionEnd(
  { octokit }: InstallationClient,
  scope: RegistrationScope,
  version: string,
): Promise<VersionEnd | undefined> {
  return foundOrNot(async () => {
    const { data }: { data: unknown } =
      scope.kind === 'organization'
        ? await octokit.request(OF_ORGANIZATION, { org: scope.owner, version })
        : await octokit.request(OF_REPOSITORY, { owner: scope.owner, repo: scope.repo, version });
    return { endsAt: instantIn(data) };
  });
}

/**
 * The end of registrations comes no later, and GitHub does not send it today. GitHub leaves out
 * fields that are not set.
 */
function instantIn(data: unknown): Date | null {
  const text =
    typeof data === 'object' && data !== null && 'runtime_deprecates_at' in data
      ? data.runtime_deprecates_at
      : null;
  const instant = typeof text === 'string' ? new Date(text) : null;
  return instant === null || Number.isNaN(instant.getTime()) ? null : instant;
}
