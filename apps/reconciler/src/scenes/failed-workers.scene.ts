import type { Database } from '@paddock/db/schema/tables';
import type { GitHub } from '@paddock/github/connect';
import { createJitConfig } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import type { Kysely } from 'kysely';
import { ACME } from './stray-registrations.scene.ts';

interface Place {
  readonly db: Kysely<Database>;
  readonly world: SmallWorld;
  readonly github: GitHub;
}

export interface Failed {
  minutes?: number;
  scope?: RegistrationScope;
  registered?: boolean;
  /** We were told the runner's id. */
  told?: boolean;
  podName?: string;
  /** As the row was written; the entity's login and its installation may be others by now. */
  login?: string;
  installationId?: number;
}

/** A worker that failed `minutes` ago, after it had begun to register. */
export async function putFailedWorker(
  { db, world, github }: Place,
  { minutes = 20, scope = ACME, registered = true, told = false, ...given }: Failed,
) {
  const owner = scope.kind === 'organization' ? world.organization : world.user;
  const { pod_name: name } = await putWorker(db, {
    ...(given.podName === undefined ? {} : { pod_name: given.podName }),
    status: 'failed',
    completed_at: minutesAgo(minutes),
    registration_started_at: minutesAgo(minutes),
    app_id: world.appId,
    installation_id: given.installationId ?? owner.installationId,
    entity_id: owner.id,
    entity_name: given.login ?? owner.login,
    entity_type: scope.kind === 'organization' ? 'Organization' : 'User',
    scope_repo_id: scope.kind === 'organization' ? 0 : world.repositories.tool,
  });
  if (!registered) return { name, jitConfig: '' };
  const client = github.asInstallation(owner);
  const { jitConfig, runnerId } = await createJitConfig(client, scope, {
    name,
    labels: ['linux'],
    runnerGroupId: 1,
  });
  if (told)
    await db
      .updateTable('workers')
      .set({ runner_id: runnerId })
      .where('pod_name', '=', name)
      .execute();
  return { name, jitConfig };
}
