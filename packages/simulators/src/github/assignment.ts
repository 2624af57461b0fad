import { fullName } from './accounts.ts';
import type { Job, Runner, World } from './world.ts';

/** The only workflow of every repository, and the branch of all its runs. */
export const WORKFLOW = { path: '.github/workflows/ci.yml', branch: 'main' } as const;

/**
 * Whether GitHub would give the job to the runner. The runner must have all labels of the job (in
 * any case), be in the group that it names, be registered for the repository or its organisation, and
 * be in a group that admits the repository and the workflow.
 */
export function canRun(runner: Runner, job: Job): boolean {
  const { repository } = job.run;
  if (job.hosted || runner.scope.owner !== repository.owner) return false;
  if (!job.labels.every((label) => runner.lowerLabels.has(label.toLowerCase()))) return false;
  if (job.group !== undefined && job.group !== runner.group.name) return false;
  if (runner.scope.repository !== undefined) return runner.scope.repository === repository;
  if (!repository.private && !runner.group.allowsPublicRepositories) return false;
  const workflow = `${fullName(repository)}/${WORKFLOW.path}@${WORKFLOW.branch}`;
  if (runner.group.workflows?.includes(workflow) === false) return false;
  switch (runner.group.visibility) {
    case 'all':
      return true;
    case 'private':
      return repository.private;
    case 'selected':
      return runner.group.repositoryIds.has(repository.id);
    default:
      return runner.group.visibility satisfies never;
  }
}

/** GitHub's choice among the idle runners that fit: any of them. */
export function pickRunner(world: World, job: Job): Runner | undefined {
  const idle = [...world.runners.values()].filter(
    (runner) => runner.state === 'idle' && canRun(runner, job),
  );
  return idle[Math.floor(world.random() * idle.length)];
}
