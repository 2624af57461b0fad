import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { InstallationClient } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import { findScope, type RegistrationScope } from '@paddock/github/runners';

/** The worker's registration scope. A new job's row has the repository's name without a call. */
export async function scopeOf(
  worker: Pick<WorkerToProvision, 'scopeRepoId' | 'login' | 'newFullName'>,
  client: InstallationClient,
): Promise<RegistrationScope | undefined> {
  const repo = worker.newFullName?.split('/')[1];
  if (worker.scopeRepoId === 0 || repo === undefined) return findScope(client, worker);
  return { kind: 'repository', owner: worker.login, repo };
}

/** The refusal of a repository that GitHub does not show us. */
export const unseenRepository = ({
  scopeRepoId,
}: Pick<WorkerToProvision, 'scopeRepoId'>): GitHubFailure => ({
  kind: 'not_found',
  operation: `GET /repositories/${scopeRepoId}`,
  status: 404,
  message: `GitHub shows us no repository ${scopeRepoId}: it is gone, or the App has no access to it`,
});
