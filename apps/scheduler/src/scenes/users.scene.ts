import type { Database, Db } from '@paddock/db/schema/tables';
import type { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { noteInstallationOf, putJob } from '@paddock/testing/demand-rows';
import type { Insertable } from 'kysely';
import { APP_ID } from './settings.scene.ts';

interface Stores {
  readonly db: Db;
  readonly gitHub: Awaited<ReturnType<typeof startGitHubSimulator>>;
}

export type TestUser = Awaited<ReturnType<ReturnType<typeof usersOf>['addUser']>>;

/** Users beside the organisation acme. */
export const usersOf = ({ db, gitHub }: Stores) => ({
  /** A user with private repositories, on which the App is installed. */
  async addUser(login: string, repositories: readonly string[]) {
    const user = await gitHub.addUser({ login });
    const made = new Map<string, number>();
    for (const name of repositories)
      made.set(name, (await gitHub.addRepository({ owner: login, name })).id);
    const { id } = await gitHub.install({ appId: APP_ID, account: login, announce: false });
    return { login, id: user.id, installationId: id, repositories: made };
  },
  /** A job that GitHub has queued there and ingress has stored; `given` overrides columns. */
  async queueJobOf(
    user: {
      login: string;
      id: number;
      installationId: number;
      repositories: ReadonlyMap<string, number>;
    },
    repo: string,
    given: Partial<Insertable<Database['jobs']>> = {},
  ) {
    const job = await gitHub.queueJob({ repo: `${user.login}/${repo}`, labels: ['linux'] });
    const repository = {
      repo_id: user.repositories.get(repo) ?? 0,
      repo_full_name: `${user.login}/${repo}`,
    };
    const entity = {
      entity_id: user.id,
      entity_name: user.login,
      entity_type: 'User',
      installation_id: user.installationId,
    } as const;
    const row = { job_id: job.id, app_id: APP_ID, ...entity, ...repository, ...given };
    await noteInstallationOf(db, await putJob(db, row));
  },
});
