import { id } from '@paddock/domain/deliveries/payload-fields';
import { readRunnerName } from '@paddock/domain/workers/worker-name';
import { z } from 'zod';
import type { InstallationClient } from './connect.ts';
import { foundOrNot } from './errors.ts';
import {
  ifNoneMatch,
  isThat,
  type ListIfChanged,
  PER_PAGE,
  readAnswer,
  readPagesIfChanged,
  totalCount,
  unlessUnchanged,
} from './read-answers.ts';
import type { RepositoryName } from './repositories.ts';

const runAttempt = z
  .int32()
  .positive()
  .nullish()
  .transform((value) => value ?? 1);

const NOT_RUNNING = new Set(['queued', 'waiting', 'requested', 'pending', 'completed']);

/**
 * A workflow job as GitHub answers it, of the run if one is given. What decides about jobs and
 * workers must be there; the rest, `unknown`, is checked where it is stored.
 */
const jobOf = (runId?: number) =>
  z
    .object({
      id,
      run_id: runId === undefined ? id : z.literal(runId),
      run_attempt: runAttempt,
      /**
       * `queued`, `in_progress`, `completed`, `waiting`, `requested`, `pending`, or any later word
       * of GitHub's.
       */
      status: z.string(),
      /** Once set, the job is over, even if the status says otherwise. */
      conclusion: z.string().nullish(),
      runner_id: z.int().nullish(),
      runner_name: z.string().nullish(),
      name: z.unknown().optional(),
      workflow_name: z.unknown().optional(),
      html_url: z.unknown().optional(),
      labels: z.unknown().optional(),
      created_at: z.unknown().optional(),
      started_at: z.unknown().optional(),
      completed_at: z.unknown().optional(),
    })
    .refine(
      ({ status, runner_id: runnerId, runner_name: runnerName }) =>
        NOT_RUNNING.has(status) || (runnerId !== undefined && runnerName !== undefined),
      { path: ['runner_name'], error: 'or `runner_id` is missing, and the job runs' },
    )
    .transform((job) => ({
      id: job.id,
      runId: job.run_id,
      runAttempt: job.run_attempt,
      name: job.name,
      workflowName: job.workflow_name,
      htmlUrl: job.html_url,
      status: job.status,
      conclusion: job.conclusion || null,
      labels: job.labels,
      runnerId: job.runner_id || null,
      runnerName: readRunnerName(job.runner_name ?? '') || null,
      createdAt: job.created_at,
      startedAt: job.started_at,
      completedAt: job.completed_at,
    }));

export type GitHubJob = Readonly<z.infer<ReturnType<typeof jobOf>>>;

const run = z
  .object({
    id,
    run_attempt: runAttempt,
    status: z.string().nullable(),
    conclusion: z.string().nullish(),
    repository: z.object({ id }).optional(),
  })
  .transform(({ run_attempt: attempt, conclusion, repository, ...of }) => ({
    ...of,
    attempt,
    conclusion: conclusion ?? null,
    /** Undefined: GitHub does not say. */
    repoId: repository?.id,
  }));

export type GitHubRun = Readonly<z.infer<typeof run>>;

const runs = z.object({ workflow_runs: z.array(run), total_count: totalCount });

/** One run; undefined when GitHub answers 404. */
export const findRun = (
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
  runId: number,
): Promise<GitHubRun | undefined> =>
  foundOrNot(async () => {
    const answer = await octokit.rest.actions.getWorkflowRun({ owner, repo, run_id: runId });
    return readAnswer(answer, isThat(run, runId)).data;
  });

/** One job; undefined when GitHub answers 404. */
export const findJob = (
  { octokit }: InstallationClient,
  { owner, repo }: RepositoryName,
  jobId: number,
): Promise<GitHubJob | undefined> =>
  foundOrNot(async () => {
    const answer = await octokit.rest.actions.getJobForWorkflowRun({ owner, repo, job_id: jobId });
    return readAnswer(answer, isThat(jobOf(), jobId)).data;
  });

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
  const schema = z.object({ jobs: z.array(jobOf(runId)), total_count: totalCount });
  const fetchPage = async (page: number, etag: string | undefined) => {
    const asked = { ...query, page, ...ifNoneMatch(etag) };
    const answer = await octokit.rest.actions.listJobsForWorkflowRun(asked);
    const { data, headers } = readAnswer(answer, schema);
    const { jobs: items, total_count: total } = data;
    return { items, total, link: headers.link, etag: headers.etag };
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
    const query = { owner, repo, per_page: NEWEST_RUNS, ...ifNoneMatch(etag) };
    const answer = await octokit.rest.actions.listWorkflowRunsForRepo(query);
    const { data, headers } = readAnswer(answer, runs);
    return { runs: data.workflow_runs, etag: headers.etag };
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
    const answer = await octokit.rest.actions.listWorkflowRunsForRepo(asked);
    const { data, headers } = readAnswer(answer, runs);
    const { workflow_runs: items, total_count: total } = data;
    return { items, total, link: headers.link, etag: headers.etag };
  };
  return readPagesIfChanged(fetchPage, { etags, most: MOST_RUNS, mayLack: true });
}
