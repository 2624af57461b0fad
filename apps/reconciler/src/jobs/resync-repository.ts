import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { findInstallationByLogin, noteResynced } from '@paddock/db/jobs/repositories';
import type { GitHub } from '@paddock/github/connect';
import { findRepositoryByName } from '@paddock/github/repositories';
import {
  discoverRepository,
  type DiscoverRepositoryOptions,
  type RepositoryCounts,
} from './discover-repository.ts';
import type { AskOne } from './list-jobs-of-runs.ts';
import { parseRepositoryName } from './repository-name.ts';

export interface ResyncRepositoryOptions extends Omit<
  DiscoverRepositoryOptions,
  'pools' | 'allowance' | 'ask' | 'mostRuns'
> {
  github: GitHub;
  /** The Apps that are configured here. */
  appIds: readonly number[];
}

/**
 * Compares all unfinished runs of one repository with our rows, without ETags or a budget. Returns
 * a sentence if we do not serve the repository. Throws Octokit's errors.
 */
export async function resyncRepository(
  options: ResyncRepositoryOptions,
  fullName: string,
  signal: AbortSignal,
): Promise<RepositoryCounts | string> {
  const { db, github, appIds } = options;
  const name = parseRepositoryName(fullName);
  if (name === undefined) return `${fullName} is not a repository: write owner/name`;
  const installation = await findInstallationByLogin(db, name.owner, appIds);
  if (installation === undefined)
    return `none of our Apps is installed on ${name.owner}, or its installation is suspended`;
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return 'no pools are loaded: start the scheduler';
  const client = github.asInstallation(installation, { signal });
  const repository = await findRepositoryByName(client, name);
  const invisible = `GitHub does not show ${fullName} to the App: select the repository in its installation`;
  if (repository === undefined) return invisible;
  const toLookAt = {
    ...installation,
    repoId: repository.id,
    fullName: `${repository.owner}/${repository.name}`,
    seenBefore: {},
    isFullDue: true,
  };
  const errors: unknown[] = [];
  const ask: AskOne = (_what, call) =>
    call(client).catch((error: unknown) => {
      errors.push(error);
      return undefined;
    });
  const unlimited = {
    allowance: { take: () => true, giveBack: () => undefined },
    mostRuns: Infinity,
  };
  const counts = await discoverRepository({ ...options, ...unlimited, pools, ask }, toLookAt);
  // All that GitHub answered is written. A retry asks for the rest.
  if (errors.length > 0) throw errors[0];
  if (counts === undefined) return invisible;
  if (!options.dryRun) await noteResynced(db, repository.id);
  return counts;
}
