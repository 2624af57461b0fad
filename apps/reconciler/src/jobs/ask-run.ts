import type { InstallationClient } from '@paddock/github/connect';
import { type GitHubJob, type GitHubRun, listRunJobs } from '@paddock/github/jobs';
import { findRepository } from '@paddock/github/repositories';
import type { RepositoryName } from '@paddock/github/scope';

export type RunAnswer =
  /** All jobs of the run, by id, and where it was found. */
  | { readonly kind: 'run'; readonly name: RepositoryName; readonly jobs: ReadonlyMap<number, GitHubJob> }
  /** GitHub shows us the repository, and does not know the run. */
  | { readonly kind: 'gone' }
  /** GitHub does not show us the repository either: that says nothing of the run. */
  | { readonly kind: 'invisible' };

export interface RunQuestion {
  readonly runId: number;
  readonly repoId: number;
  /** The entity's login now, and the repository's name as it was last heard of. */
  readonly name: RepositoryName;
}

/**
 * Asks for all jobs of a run: one call as long as the repository's name is right. Only if GitHub does not find the run, the repository is
 * looked up by its id, and asked for again under its name of today (A12). Throws what Octokit throws.
 */
export async function askRun(client: InstallationClient, { runId, repoId, name }: RunQuestion): Promise<RunAnswer> {
  const jobs = await listRunJobs(client, name, runId);
  if (jobs !== undefined) return found(name, jobs);
  const repository = await findRepository(client, repoId);
  if (repository === undefined) return { kind: 'invisible' };
  const today: RepositoryName = { owner: repository.owner, repo: repository.name };
  if (today.owner === name.owner && today.repo === name.repo) return { kind: 'gone' };
  const jobsToday = await listRunJobs(client, today, runId);
  return jobsToday === undefined ? { kind: 'gone' } : found(today, jobsToday);
}

const found = (name: RepositoryName, jobs: readonly GitHubJob[]): RunAnswer => ({
  kind: 'run',
  name,
  jobs: new Map(jobs.map((job) => [job.id, job])),
});

/** How the run of a job ended that is still called queued: its conclusion, or that a later attempt took its place. Undefined: it has not. */
export function endOfRun(
  run: GitHubRun | undefined,
  job: Pick<GitHubJob, 'runAttempt'>,
): { readonly conclusion: string | null } | undefined {
  if (run === undefined) return undefined;
  if (run.attempt > job.runAttempt) return { conclusion: null };
  return run.status === 'completed' ? { conclusion: run.conclusion } : undefined;
}
