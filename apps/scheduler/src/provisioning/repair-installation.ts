import { pinLogins, storeInstallations } from '@paddock/db/entities/installations';
import type { Database } from '@paddock/db/schema/tables';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHub } from '@paddock/github/connect';
import { findInstallation, type GitHubInstallation } from '@paddock/github/installations';
import type { Kysely } from 'kysely';

/**
 * `renewed`: the rows were updated, so the caller may repeat its call at once; `usable`: GitHub
 * sees nothing wrong.
 */
export type InstallationState = 'renewed' | 'usable' | 'suspended' | 'gone';

/**
 * Asks GitHub, as the App, where it is installed, after GitHub refused a call. The entity may have
 * a new name, or the App may have been installed again, and the delivery that said so was lost.
 * Makes at most two calls. Throws what Octokit throws.
 */
export async function repairInstallation(
  db: Kysely<Database>,
  github: GitHub,
  worker: WorkerToProvision,
): Promise<InstallationState> {
  const found = await lookUp(github, worker);
  // Another entity may have taken a login that is free.
  if (found === undefined || found.entityId !== worker.entityId) return 'gone';
  if (found.id === worker.installationId && found.login === worker.login)
    return found.suspendedAt === null ? 'usable' : 'suspended';
  const entity = { id: worker.entityId, login: found.login, type: worker.entityType };
  const { id: installationId, selection: repositorySelection, suspendedAt } = found;
  const stated = {
    appId: worker.appId,
    entity,
    installationId,
    repositorySelection,
    suspendedAt,
    isDeleted: false,
    statedAt: null,
  };
  const refused = await db.transaction().execute(async (trx) => {
    const others = await pinLogins(trx, [entity]);
    await storeInstallations(trx, [stated]);
    return others;
  });
  // Its new login belongs to another entity: the matcher stops the worker.
  return refused.has(entity.id) ? 'gone' : 'renewed';
}

async function lookUp(
  github: GitHub,
  worker: WorkerToProvision,
): Promise<GitHubInstallation | undefined> {
  const app = github.asApp(worker.appId);
  const byId = await findInstallation(app, { id: worker.installationId });
  if (byId !== undefined) return byId;
  if (worker.entityType === 'Organization')
    return findInstallation(app, { organization: worker.login });
  const repo = worker.repoFullName?.split('/')[1];
  return repo === undefined
    ? undefined
    : findInstallation(app, { repository: { owner: worker.login, repo } });
}
