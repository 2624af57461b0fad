import type { InstallationClient } from './connect.ts';
import { foundOrNot } from './found-or-not.ts';

/** A repository under its present name. */
export type GitHubRepository = {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly private: boolean;
};

/** A repository by the id that outlives its names (A12); undefined when GitHub answers 404, which also means: not visible to this installation. */
export async function findRepository({ octokit }: InstallationClient, repositoryId: number): Promise<GitHubRepository | undefined> {
  return foundOrNot(async () => {
    const { data }: { data: RepositoryAnswer } = await octokit.request('GET /repositories/{repository_id}', {
      repository_id: repositoryId,
    });
    return { id: data.id, owner: data.owner.login, name: data.name, private: data.private };
  });
}

type RepositoryAnswer = Awaited<ReturnType<InstallationClient['octokit']['rest']['repos']['get']>>['data'];
