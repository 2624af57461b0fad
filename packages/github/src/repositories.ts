import { id } from '@paddock/domain/deliveries/payload-fields';
import { z } from 'zod';
import type { InstallationClient } from './connect.ts';
import { foundOrNot } from './errors.ts';
import { isThat, PER_PAGE, readAnswer, readPages, totalCount } from './read-answers.ts';

/** A repository as GitHub's paths name it. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

/** A repository under its present name. */
const repository = z
  .object({
    id,
    owner: z.object({ login: z.string().min(1) }),
    name: z.string().min(1),
    private: z.boolean(),
    pushed_at: z.string().nullish(),
    archived: z.boolean().optional(),
    disabled: z.boolean().optional(),
  })
  .transform((one) => ({
    id: one.id,
    owner: one.owner.login,
    name: one.name,
    private: one.private,
    /** ISO text; null if it has never had a push. */
    pushedAt: one.pushed_at ?? null,
    /** It may have new runs: it is neither archived nor disabled. */
    canRun: one.archived !== true && one.disabled !== true,
  }));

export type GitHubRepository = Readonly<z.infer<typeof repository>>;

const repositories = z.object({ repositories: z.array(repository), total_count: totalCount });

/**
 * A repository by its id, which outlives its names. Undefined when GitHub answers 404, which can
 * also mean: not visible to this installation.
 */
export async function findRepository(
  { octokit }: InstallationClient,
  repositoryId: number,
): Promise<GitHubRepository | undefined> {
  return foundOrNot(async () => {
    const answer = await octokit.request(`GET /repositories/${repositoryId}`);
    return readAnswer(answer, isThat(repository, repositoryId)).data;
  });
}

/** A repository by its present or a former name; undefined when GitHub answers 404. */
export async function findRepositoryByName(
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
): Promise<GitHubRepository | undefined> {
  return foundOrNot(
    async () => readAnswer(await octokit.rest.repos.get({ owner, repo }), repository).data,
  );
}

/** All repositories that the installation may see. */
export async function listRepositories({
  octokit,
}: InstallationClient): Promise<GitHubRepository[]> {
  return readPages(async (page) => {
    const query = { per_page: PER_PAGE, page };
    const answer = await octokit.rest.apps.listReposAccessibleToInstallation(query);
    const { data, headers } = readAnswer(answer, repositories);
    return { items: data.repositories, total: data.total_count, link: headers.link };
  });
}
