import type { InstallationClient } from './connect.ts';
import { foundOrNot } from './errors.ts';
import { PER_PAGE, readPages } from './read-pages.ts';

/** A repository as GitHub's paths name it. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

/** A repository under its present name. */
export type GitHubRepository = {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly private: boolean;
  /** ISO text; null if it has never had a push. */
  readonly pushedAt: string | null;
  /** It may have new runs: it is neither archived nor disabled. */
  readonly canRun: boolean;
};

/**
 * A repository by its id, which outlives its names. Undefined when GitHub answers 404, which can
 * also mean: not visible to this installation.
 */
export async function findRepository(
  { octokit }: InstallationClient,
  repositoryId: number,
): Promise<GitHubRepository | undefined> {
  return foundOrNot(async () => {
    const { data }: { data: RepositoryAnswer } = await octokit.request(
      'GET /repositories/{repository_id}',
      {
        repository_id: repositoryId,
      },
    );
    return parseRepository(data);
  });
}

/** A repository by its present or a former name; undefined when GitHub answers 404. */
export async function findRepositoryByName(
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
): Promise<GitHubRepository | undefined> {
  return foundOrNot(async () =>
    parseRepository((await octokit.rest.repos.get({ owner, repo })).data),
  );
}

/** All repositories that the installation may see. */
export async function listRepositories({
  octokit,
}: InstallationClient): Promise<GitHubRepository[]> {
  return readPages(async (page) => {
    const { data, headers } = await octokit.rest.apps.listReposAccessibleToInstallation({
      per_page: PER_PAGE,
      page,
    });
    return {
      items: data.repositories.map(parseRepository),
      total: data.total_count,
      link: headers.link,
    };
  });
}

const parseRepository = ({
  id,
  owner,
  name,
  private: isPrivate,
  pushed_at: pushedAt,
  ...state
}: RepositoryFields): GitHubRepository => ({
  id,
  owner: owner.login,
  name,
  private: isPrivate,
  pushedAt: pushedAt ?? null,
  canRun: state.archived !== true && state.disabled !== true,
});

type RepositoryFields = Pick<RepositoryAnswer, 'id' | 'name' | 'private'> & {
  readonly archived?: boolean;
  readonly disabled?: boolean;
  readonly owner: { readonly login: string };
  readonly pushed_at?: string | null;
};

type RepositoryAnswer = Awaited<
  ReturnType<InstallationClient['octokit']['rest']['repos']['get']>
>['data'];
