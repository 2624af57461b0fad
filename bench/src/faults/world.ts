import type { GitHubControl } from '@paddock/simulators/github/control';

/** Two repositories of a user, each with separate runners. */
export const DOTFILES = 'mona/dotfiles';
export const GARDEN = 'mona/garden';
/** Repositories of an organisation, which share their runners, and those of the user. */
export const REPOSITORIES = ['acme/shop', 'acme/site', 'acme/shop', DOTFILES, GARDEN] as const;
/** Has one job at most; no other job can make a runner for it. */
export const LONE_REPOSITORY = 'mona/garage';
export const LONE_REPOSITORY_ID = 44_000;
/** The organisation that a fault hits while others go on. */
export const UMBRA = 'umbra';
export const UMBRA_REPOSITORIES = ['umbra/core', 'umbra/web', 'umbra/docs'] as const;
export const UMBRA_INSTALLATION = 66_000;

/** Who has jobs, at the simulated GitHub. Umbra is there only in the rows that hit one. */
export const furnish =
  (hasUmbra: boolean) =>
  async (github: GitHubControl, appIds: readonly number[]): Promise<void> => {
    await github.addOrganization({ login: 'acme' });
    await github.addUser({ login: 'mona' });
    await github.addRepository({ ...named(LONE_REPOSITORY), id: LONE_REPOSITORY_ID });
    for (const repository of new Set(REPOSITORIES)) await github.addRepository(named(repository));
    for (const appId of appIds)
      for (const account of ['acme', 'mona'])
        await github.install({ appId, account, announce: false });
    if (!hasUmbra) return;
    await github.addOrganization({ login: UMBRA });
    for (const repository of UMBRA_REPOSITORIES) await github.addRepository(named(repository));
    for (const [index, appId] of appIds.entries())
      await github.install({
        appId,
        account: UMBRA,
        id: UMBRA_INSTALLATION + index,
        announce: false,
      });
  };

const named = (repository: string) => {
  const [owner = '', name = ''] = repository.split('/');
  return { owner, name };
};
