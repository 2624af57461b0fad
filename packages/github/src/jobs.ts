import { readRunnerName } from '@paddock/domain/workers/worker-name';
import type { InstallationClient } from './connect.ts';
import { foundOrNot } from './errors.ts';
import {
  ifNoneMatch,
  type ListIfChanged,
  PER_PAGE,
  readPagesIfChanged,
  unlessUnchanged,
} from './read-pages.ts';
import type { RepositoryName } from './repositories.ts';

/** A workflow job as GitHub answers it. Instants are GitHub's own ISO texts. */
export type GitHubJob = {
  readonly id: number;
  readonly runId: number;
  readonly runAttempt: number;
  readonly name: string;
  readonly workflowName: string | null;
  readonly htmlUrl: string | null;
  /**
   * `queued`, `in_progress`, `completed`, `waiting`, `requested`, `pending`, or any later word of
   * GitHub's.
   */
  readonly status: string;
  /** Once set, the job is over, even if the status says otherwise. */
  readonly conclusion: string | null;
  readonly labels: readonly string[];
  readonly runnerId: number | null;
  readonly runnerName: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
};

export type GitHubRun = {
  readonly id: number;
  /** Undefined: GitHub does not say. */
  readonly repoId: number | undefined;
  readonly attempt: number;
  readonly status: string | null;
  readonly conclusion: string | null;
};

/** One run; undefined when GitHub answers 404. */
export const findRun = (
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
  runId: number,
): Promise<GitHubRun | undefined> =>
  foundOrNot(async () =>
    parseRun((await octokit.rest.actions.getWorkflowRun({ owner, repo, run_id: runId })).data),
  );

/** One job; undefined when GitHub answers 404. */
export const findJob = (
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
  jobId: number,
): Promise<GitHubJob | undefined> =>
  foundOrNot(async () =>
    parseJob(
      (await octokit.rest.actions.getJobForWorkflowRun({ owner, repo, job_id: jobId })).data,
    ),
  );

/**
 * All jobs of a run, those of earlier attempts included (each re-run has new job ids); undefined
 * when GitHub answers 404.
 */
export async function listRunJobs(
  client: InstallationClient,
  name: RepositoryName,
  runId: number,
): Promise<readonly GitHubJob[] | undefined> {
  const list = await listRunJobsIfChanged(client, name, { runId, etags: [] });
  return list?.kind === 'changed' ? list.items : undefined;
}

/**
 * The same, unless nothing has changed since the `etags` of an earlier answer: then the call does
 * not count against the budget.
 */
export async function listRunJobsIfChanged(
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
  { runId, etags }: { readonly runId: number; readonly etags: readonly string[] },
): Promise<ListIfChanged<GitHubJob> | undefined> {
  const query = { owner, repo, run_id: runId, filter: 'all', per_page: PER_PAGE } as const;
  const fetchPage = async (page: number, etag: string | undefined) => {
    const asked = { ...query, page, ...ifNoneMatch(etag) };
    const { data, headers } = await octokit.rest.actions.listJobsForWorkflowRun(asked);
    const { jobs, total_count: total } = data;
    return { items: jobs.map(parseJob), total, link: headers.link, etag: headers.etag };
  };
  return foundOrNot(() => readPagesIfChanged(fetchPage, { etags }));
}

export type RunStatus =
  | 'queued'
  | 'in_progress'
  | 'completed'
  | 'waiting'
  | 'requested'
  | 'pending';

/** So many of the newest runs tell whether there are new ones. */
export const NEWEST_RUNS = 20;

/** The repository's newest runs of any status; undefined if nothing has changed since `etag`. */
export async function listNewestRuns(
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
  etag: string | undefined,
): Promise<{ readonly runs: readonly GitHubRun[]; readonly etag: string | undefined } | undefined> {
  try {
    const { data, headers } = await octokit.rest.actions.listWorkflowRunsForRepo({
      owner,
      repo,
      per_page: NEWEST_RUNS,
      ...ifNoneMatch(etag),
    });
    return { runs: data.workflow_runs.map(parseRun), etag: headers.etag };
  } catch (error) {
    return unlessUnchanged(error);
  }
}

/** GitHub lists no more of them, even if the total is larger. */
const MOST_RUNS = 1_000;

/**
 * The repository's runs of one status, newest first; GitHub lists a thousand at most. An unchanged
 * list since the `etags` of an earlier answer costs none of the budget.
 */
export async function listRuns(
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
  { status, etags = [] }: { readonly status: RunStatus; readonly etags?: readonly string[] },
): Promise<ListIfChanged<GitHubRun>> {
  const query = { owner, repo, status, per_page: PER_PAGE };
  const fetchPage = async (page: number, etag: string | undefined) => {
    const asked = { ...query, page, ...ifNoneMatch(etag) };
    const { data, headers } = await octokit.rest.actions.listWorkflowRunsForRepo(asked);
    const { workflow_runs: runs, total_count: total } = data;
    return { items: runs.map(parseRun), total, link: headers.link, etag: headers.etag };
  };
  return readPagesIfChanged(fetchPage, { etags, most: MOST_RUNS, mayLack: true });
}

type JobAnswer = Awaited<
  ReturnType<InstallationClient['octokit']['rest']['actions']['listJobsForWorkflowRun']>
>['data']['jobs'][number];
type RunAnswer = Awaited<
  ReturnType<InstallationClient['octokit']['rest']['actions']['getWorkflowRun']>
>['data'];

function parseJob(job: JobAnswer): GitHubJob {
  return {
    id: job.id,
    runId: job.run_id,
    runAttempt: job.run_attempt ?? 1,
    name: job.name,
    workflowName: job.workflow_name,
    htmlUrl: job.html_url,
    status: job.status,
    conclusion: job.conclusion,
    labels: job.labels,
    runnerId: job.runner_id || null,
    runnerName: readRunnerName(job.runner_name ?? '') || null,
    createdAt: job.created_at,
    startedAt: job.started_at,
    completedAt: job.completed_at,
  };
}

function parseRun(run: RunAnswer): GitHubRun {
  return {
    id: run.id,
    repoId: (run.repository as RunAnswer['repository'] | undefined)?.id,
    attempt: run.run_attempt ?? 1,
    status: run.status,
    conclusion: run.conclusion,
  };
}
