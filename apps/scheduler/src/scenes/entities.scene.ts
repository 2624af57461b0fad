import type { Database, Db } from '@paddock/db/schema/tables';
import type { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { noteInstallationOf, putJob } from '@paddock/testing/demand-rows';
import type { Insertable } from 'kysely';
import { APP_ID } from './settings.scene.ts';

type GitHubSimulator = Awaited<ReturnType<typeof startGitHubSimulator>>;

export type TestEntity = Awaited<ReturnType<typeof addEntity>>;

/** A user or an organisation with private repositories, on which the App is installed. */
export async function addEntity(
  gitHub: GitHubSimulator,
  login: string,
  repositories: readonly string[],
  organization?: { runnerGroups: boolean },
) {
  const { id } = organization
    ? await gitHub.addOrganization({ login, ...organization })
    : await gitHub.addUser({ login });
  const made = new Map<string, number>();
  for (const name of repositories)
    made.set(name, (await gitHub.addRepository({ owner: login, name })).id);
  const installation = await gitHub.install({ appId: APP_ID, account: login, announce: false });
  const type: 'User' | 'Organization' = organization ? 'Organization' : 'User';
  return { login, type, id, installationId: installation.id, repositories: made };
}

interface GivenJob {
  /** The first of the entity's, unless given. */
  readonly repo?: string;
  readonly durationMs?: number;
  /** Columns. */
  readonly row?: Partial<Insertable<Database['jobs']>>;
}

/** A job that GitHub has queued there and ingress has stored. */
export async function queueJobOf(
  { db, gitHub }: { db: Db; gitHub: GitHubSimulator },
  { login, type, id, installationId, repositories }: TestEntity,
  { repo = [...repositories.keys()][0] ?? '', durationMs = 1, row }: GivenJob = {},
): Promise<number> {
  const repoName = `${login}/${repo}`;
  const job = await gitHub.queueJob({ repo: repoName, labels: ['linux'], durationMs });
  const stored = await putJob(db, {
    job_id: job.id,
    run_id: job.runId,
    entity_id: id,
    entity_name: login,
    entity_type: type,
    repo_id: repositories.get(repo) ?? 0,
    repo_full_name: repoName,
    app_id: APP_ID,
    installation_id: installationId,
    delivery_guid: `guid-${job.id}`,
    ...row,
  });
  await noteInstallationOf(db, stored);
  return job.id;
}
