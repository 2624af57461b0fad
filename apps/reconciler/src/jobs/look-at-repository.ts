import type { InstallationClient } from '@paddock/github/connect';
import { type GitHubJob, listRunJobs, listRuns, type RunStatus } from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/scope';
import type { Allowance } from './allowance.ts';
import { OUTAGES_AT_MOST } from '../github-trouble.ts';

/** A run that waits for the approval of one job can hold queued ones, so every status counts but the last. */
const UNFINISHED: readonly RunStatus[] = ['queued', 'in_progress', 'waiting', 'pending', 'requested'];

/** Makes one call to GitHub, about a part of the repository (`what`) or itself; undefined if that found nothing, or failed and was dealt with. */
export type AskOne = <T>(what: string | undefined, call: () => Promise<T | undefined>) => Promise<T | undefined>;

/** A repository's unfinished runs, before their jobs are asked for. */
export interface UnfinishedRuns {
  readonly name: RepositoryName;
  readonly runIds: readonly number[];
  /** Lists that are as they were at the last look, so that nothing of them is repeated here. */
  readonly unchanged: number;
  /** Of the lists as they are now, by status. */
  readonly etags: Readonly<Record<string, string>>;
  /** False if the allowance ended before everything was seen: then what was seen counts, and the etags do not. */
  readonly isComplete: boolean;
}

/**
 * Lists all unfinished runs of a repository. A list whose `etag` is given and that has not changed costs nothing.
 * Throws what Octokit throws.
 */
export async function listUnfinishedRuns(
  client: InstallationClient,
  name: RepositoryName,
  etags: Readonly<Record<string, string>>,
  allowance: Allowance,
): Promise<UnfinishedRuns> {
  const seen: Record<string, string> = {};
  const runIds = new Set<number>();
  let unchanged = 0;
  const view = (isComplete: boolean): UnfinishedRuns => ({ name, runIds: [...runIds], unchanged, etags: seen, isComplete });
  for (const status of UNFINISHED) {
    if (!allowance.take()) return view(false);
    const before = etags[status];
    const list = await listRuns(client, name, before === undefined ? { status } : { status, etag: before });
    if (list.kind === 'unchanged') unchanged++;
    const etag = list.kind === 'unchanged' ? before : list.etag;
    if (etag !== undefined) seen[status] = etag;
    for (const { id } of list.kind === 'unchanged' ? [] : list.runs) runIds.add(id);
  }
  return view(true);
}

/** The jobs of a repository's unfinished runs. */
export interface JobsOfRuns {
  readonly jobs: readonly GitHubJob[];
  /** Runs of which GitHub did not answer: at the next look their turn is after the others'. */
  readonly unanswered: readonly number[];
  /** False if some run was not asked about, or not answered. */
  readonly isComplete: boolean;
}

/** Reads all jobs of the runs, each for itself, until too many in a row fail; `late` are runs of which GitHub did not answer before. */
export async function listJobsOfRuns(
  client: InstallationClient,
  { name, runIds }: Pick<UnfinishedRuns, 'name' | 'runIds'>,
  { ask, allowance, late }: { ask: AskOne; allowance: Allowance; late: readonly number[] },
): Promise<JobsOfRuns> {
  const jobs = new Map<number, GitHubJob>();
  const unanswered = new Set(late.filter((runId) => runIds.includes(runId)));
  const inTurn = [...runIds.filter((runId) => !unanswered.has(runId)), ...unanswered];
  let answered = 0;
  let failedInARow = 0;
  for (const runId of inTurn) {
    if (failedInARow >= OUTAGES_AT_MOST || !allowance.take()) break;
    const list = await ask(`run ${runId}`, async () => {
      unanswered.add(runId);
      // A run that is not found any more has no jobs.
      return (await listRunJobs(client, name, runId)) ?? [];
    });
    failedInARow = list === undefined ? failedInARow + 1 : 0;
    if (list === undefined) continue;
    answered++;
    unanswered.delete(runId);
    for (const job of list) jobs.set(job.id, job);
  }
  return { jobs: [...jobs.values()], unanswered: [...unanswered], isComplete: answered === inTurn.length };
}
