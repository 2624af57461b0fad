import { covers, fullName, repositoriesOf } from './accounts.ts';
import { emit } from './emit.ts';
import {
  exampleOf,
  installationJson,
  nodeId,
  organizationFragment,
  repositoryFragment,
  senderFragment,
} from './fragments.ts';
import { jobJson } from './job-json.ts';
import type { Installation, Job, Payload, Repository, World } from './world.ts';

export type WorkflowJobAction = 'waiting' | 'queued' | 'in_progress' | 'completed';

/** One delivery to every App that is installed on the job's repository and not suspended. */
export function emitWorkflowJob(world: World, job: Job, action: WorkflowJobAction): void {
  const { repository } = job.run;
  const workflowJob = jobJson(world, job);
  for (const installation of world.installations.values()) {
    if (installation.suspendedAt !== null || !covers(installation, repository)) continue;
    const payload = {
      action,
      workflow_job: workflowJob,
      repository: repositoryFragment(repository),
      ...organizationField(installation),
      sender: senderFragment(),
      installation: installationField(installation),
    };
    const event = 'workflow_job';
    emit(world, { event, action, installation, repositoryId: repository.id, payload });
  }
}

/** `installation` events: the App was installed, removed, suspended or unsuspended. */
export function emitInstallation(
  world: World,
  installation: Installation,
  action: 'created' | 'deleted' | 'suspend' | 'unsuspend',
): void {
  const payload = {
    ...exampleOf('installation', 0),
    action,
    installation: installationJson(world, installation),
    repositories: repositoriesOf(world, installation).map(briefRepository),
    sender: senderFragment(),
  };
  emit(world, { event: 'installation', action, installation, repositoryId: null, payload });
}

/** `installation_repositories` events: one for the added repositories, one for the removed ones. */
export function emitInstallationRepositories(
  world: World,
  installation: Installation,
  changed: Readonly<Record<'added' | 'removed', readonly Repository[]>>,
): void {
  for (const action of ['added', 'removed'] as const) {
    if (changed[action].length === 0) continue;
    const payload = {
      ...exampleOf('installation_repositories', 0),
      action,
      installation: installationJson(world, installation),
      repository_selection: installation.selection,
      repositories_added: [],
      repositories_removed: [],
      [`repositories_${action}`]: changed[action].map(briefRepository),
      sender: senderFragment(),
    };
    const event = 'installation_repositories';
    emit(world, { event, action, installation, repositoryId: null, payload });
  }
}

function briefRepository(repository: Repository): Payload {
  return {
    id: repository.id,
    node_id: nodeId('R', repository.id),
    name: repository.name,
    full_name: fullName(repository),
    private: repository.private,
  };
}

function organizationField({ account }: Installation): { organization?: Payload } {
  return account.type === 'Organization' ? { organization: organizationFragment(account) } : {};
}

function installationField({ id }: Installation): Payload {
  return { id, node_id: nodeId('MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u', id) };
}
