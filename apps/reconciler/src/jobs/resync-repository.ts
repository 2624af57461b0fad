import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { findInstallationByLogin } from '@paddock/db/jobs/repositories';
import type { GitHub } from '@paddock/github/connect';
import { findRepositoryByName } from '@paddock/github/repositories';
import { discoverRepository, type DiscoverRepositoryOptions, type RepositoryCounts } from './discover-repository.ts';
import type { AskOne } from './list-jobs-of-runs.ts';
import { parseRepositoryName } from './repository-name.ts';

export interface ResyncRepositoryOptions extends Omit<DiscoverRepositoryOptions, 'pools' | 'allowance' | 'ask' | 'mostRuns'> {
  github: GitHub;
  /** The Apps that are configured here. */
  appIds: readonly number[];
}

/**
 * Compares all unfinished runs of one repository with our rows, whatever was seen of it before and whatever is left of the budget (E2, F5).
 * A sentence if there is no such repository for us. Throws what Octokit throws.
 */
export async function resyncRepository(
  options: ResyncRepositoryOptions,
  fullName: string,
  signal: AbortSignal,
): Promise<RepositoryCounts | string> {
  const { db, github, appIds } = options;
  const name = parseRepositoryName(fullName);
  if (name === undefined) return `${fullName} is no repository: write owner/name`;
  const installation = await findInstallationByLogin(db, name.owner, appIds);
  if (installation === undefined) return `no App of ours is known to be installed on ${name.owner}, or it is suspended`;
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return 'no pools document was ever loaded: start the scheduler';
  const client = github.asInstallation(installation, { signal });
  const repository = await findRepositoryByName(client, name);
  const invisible = `GitHub does not show ${fullName} to the App: is the repository selected for it?`;
  if (repository === undefined) return invisible;
  const toLookAt = { ...installation, repoId: repository.id, fullName: `${repository.owner}/${repository.name}`, seenBefore: {} };
  const errors: unknown[] = [];
  const ask: AskOne = (_what, call) =>
    call(client).catch((error: unknown) => {
      errors.push(error);
      return undefined;
    });
  const unlimited = { allowance: { take: () => true, giveBack: () => undefined }, mostRuns: Infinity };
  const counts = await discoverRepository({ ...options, ...unlimited, pools, ask }, toLookAt);
  // What could be seen is written by now; the rest is asked for again.
  if (errors.length > 0) throw errors[0];
  return counts ?? invisible;
}
