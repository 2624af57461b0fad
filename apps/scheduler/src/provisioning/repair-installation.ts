import { pinLogins } from '@paddock/db/entities/login-pins';
import { storeInstallations } from '@paddock/db/entities/installations';
import type { Database } from '@paddock/db/schema/tables';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { GitHub } from '@paddock/github/connect';
import { findInstallation, type GitHubInstallation } from '@paddock/github/installations';
import type { Kysely } from 'kysely';

/** `renewed`: something else is known now, and the call is worth repeating at once; `usable`: GitHub sees nothing wrong with it. */
export type Standing = 'renewed' | 'usable' | 'suspended' | 'gone';

/**
 * Asks GitHub, as the App, where it is installed now, after an installation was refused: its entity may have been renamed, or the App
 * installed anew, and the delivery that said so lost (A12). At most two calls. Throws what Octokit throws.
 */
export async function repairInstallation(db: Kysely<Database>, github: GitHub, worker: WorkerToProvision): Promise<Standing> {
  const found = await lookUp(github, worker);
  // A login that was given up may be another entity's by now.
  if (found === undefined || found.entityId !== worker.entityId) return 'gone';
  if (found.id === worker.installationId && found.login === worker.login) return found.suspendedAt === null ? 'usable' : 'suspended';
  const entity = { id: worker.entityId, login: found.login, type: worker.entityType };
  const { id: installationId, selection: repositorySelection, suspendedAt } = found;
  const stated = { appId: worker.appId, entity, installationId, repositorySelection, suspendedAt, isDeleted: false, statedAt: null };
  const refused = await db.transaction().execute(async (trx) => {
    const others = await pinLogins(trx, [entity]);
    await storeInstallations(trx, [stated]);
    return others;
  });
  // Its new name belongs to another entity: the matcher gives the worker back.
  return refused.has(entity.id) ? 'gone' : 'renewed';
}

async function lookUp(github: GitHub, worker: WorkerToProvision): Promise<GitHubInstallation | undefined> {
  const app = github.asApp(worker.appId);
  const byId = await findInstallation(app, { id: worker.installationId });
  if (byId !== undefined) return byId;
  if (worker.entityType === 'Organization') return findInstallation(app, { organization: worker.login });
  const repo = worker.repoFullName?.split('/')[1];
  return repo === undefined ? undefined : findInstallation(app, { repository: { owner: worker.login, repo } });
}
