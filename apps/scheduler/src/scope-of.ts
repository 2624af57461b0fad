import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { InstallationClient } from '@paddock/github/connect';
import { findRepository } from '@paddock/github/repositories';
import type { RegistrationScope } from '@paddock/github/scope';

/**
 * Where the worker registers, by today's names; undefined when GitHub knows no repository of that
 * id (C2, A12).
 */
export async function scopeOf(
  worker: Pick<WorkerToProvision, 'scopeRepoId' | 'login' | 'repoFullName'>,
  client: InstallationClient,
): Promise<RegistrationScope | undefined> {
  if (worker.scopeRepoId === 0) return { kind: 'organization', owner: worker.login };
  // The job's row knows the name without a call. A name that has changed since still leads there:
  // GitHub redirects.
  const repo = worker.repoFullName?.split('/')[1];
  if (repo !== undefined) return { kind: 'repository', owner: worker.login, repo };
  const found = await findRepository(client, worker.scopeRepoId);
  return found === undefined ? undefined : { kind: 'repository', owner: found.owner, repo: found.name };
}
