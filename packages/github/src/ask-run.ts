import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { type GitHubJob, listRunJobs } from './jobs.ts';
import { findRepository, type RepositoryName } from './repositories.ts';

export type RunAnswer =
  /** All jobs of the run, by id, and the repository's name now. */
  | {
      readonly kind: 'run';
      readonly name: RepositoryName;
      readonly jobs: ReadonlyMap<number, GitHubJob>;
    }
  /** GitHub shows us the repository, by this name, but does not know the run. */
  | { readonly kind: 'gone'; readonly name: RepositoryName }
  /** GitHub does not show us the repository. `refusal`: it forbids it, which is an Octokit error. */
  | { readonly kind: 'invisible'; readonly refusal: unknown };

export interface RunQuestion {
  readonly runId: number;
  readonly repoId: number;
  /** The entity's login now, and the repository's last known name. */
  readonly name: RepositoryName;
}

/**
 * Asks for all jobs of a run, in one call while the repository's name is right. If GitHub does not
 * find the run, or forbids it, looks the repository up by its id and tries its new name. Throws
 * Octokit's errors.
 */
export async function askRun(
  client: InstallationClient,
  { runId, repoId, name }: RunQuestion,
): Promise<RunAnswer> {
  let forbidden: unknown;
  const jobs = await listRunJobs(client, name, runId).catch((error: unknown) => {
    forbidden = unlessHidden(error);
  });
  if (jobs !== undefined) return found(name, jobs);
  const repository = await findRepository(client, repoId).catch((error: unknown) => {
    forbidden = unlessHidden(error);
  });
  if (repository === undefined) return { kind: 'invisible', refusal: forbidden };
  if (forbidden !== undefined) throw forbidden;
  const today: RepositoryName = { owner: repository.owner, repo: repository.name };
  if (today.owner === name.owner && today.repo === name.repo) return { kind: 'gone', name };
  const jobsToday = await listRunJobs(client, today, runId);
  return jobsToday === undefined ? { kind: 'gone', name: today } : found(today, jobsToday);
}

/** Returns a refusal of the repository; throws any other failure. */
function unlessHidden(error: unknown): unknown {
  const failure = classifyGitHubError(error);
  if (failure.kind === 'forbidden' && refusedSubject(failure) === 'repository') return error;
  throw error;
}

const found = (name: RepositoryName, jobs: readonly GitHubJob[]): RunAnswer => ({
  kind: 'run',
  name,
  jobs: new Map(jobs.map((job) => [job.id, job])),
});
