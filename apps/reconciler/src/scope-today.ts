import type { InstallationClient } from '@paddock/github/connect';
import { findRepository } from '@paddock/github/repositories';
import type { RegistrationScope } from '@paddock/github/scope';

/**
 * The registration scope by today's names, since repositories are renamed. Undefined: GitHub does
 * not show us the repository.
 */
export async function scopeToday(
  client: InstallationClient,
  { scopeRepoId, login }: { scopeRepoId: number; login: string },
): Promise<RegistrationScope | undefined> {
  if (scopeRepoId === 0) return { kind: 'organization', owner: login };
  const repository = await findRepository(client, scopeRepoId);
  return repository && { kind: 'repository', owner: repository.owner, repo: repository.name };
}
