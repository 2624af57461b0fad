import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { InstallationClient } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import { findRepository } from '@paddock/github/repositories';
import type { RegistrationScope } from '@paddock/github/runners';

/**
 * The worker's registration scope, by today's names. Undefined if GitHub knows no repository of
 * that id.
 */
export async function scopeOf(
  worker: Pick<WorkerToProvision, 'scopeRepoId' | 'login' | 'newFullName'>,
  client: InstallationClient,
): Promise<RegistrationScope | undefined> {
  if (worker.scopeRepoId === 0) return { kind: 'organization', owner: worker.login };
  // A new job's row has the name without a call.
  const repo = worker.newFullName?.split('/')[1];
  if (repo !== undefined) return { kind: 'repository', owner: worker.login, repo };
  const found = await findRepository(client, worker.scopeRepoId);
  return found === undefined
    ? undefined
    : { kind: 'repository', owner: found.owner, repo: found.name };
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
