import type { InstallationClient } from '@paddock/github/connect';
import { type GitHubJob, listRunJobs, listRuns, type RunStatus } from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/scope';
import type { Allowance } from './allowance.ts';

/** A run that waits for the approval of one job can hold queued ones, so every status counts but the last. */
const UNFINISHED: readonly RunStatus[] = ['queued', 'in_progress', 'waiting', 'pending', 'requested'];

/** What GitHub shows of a repository's unfinished runs. */
export interface RepositoryView {
  readonly runs: number;
  readonly jobs: readonly GitHubJob[];
  /** Lists that are as they were at the last look, so that nothing of them is repeated here. */
  readonly unchanged: number;
  /** Of the lists as they are now, by status. */
  readonly etags: Readonly<Record<string, string>>;
  /** False if the allowance ended before everything was seen: then what was seen counts, and the etags do not. */
  readonly isComplete: boolean;
}

/**
 * Reads all unfinished runs of a repository and all their jobs. A list whose `etag` is given and that has not changed costs nothing.
 * Throws what Octokit throws.
 */
export async function lookAtRepository(
  client: InstallationClient,
  name: RepositoryName,
  etags: Readonly<Record<string, string>>,
  allowance: Allowance,
): Promise<RepositoryView> {
  const seen: Record<string, string> = {};
  const runIds = new Set<number>();
  const jobs = new Map<number, GitHubJob>();
  let unchanged = 0;
  const view = (isComplete: boolean): RepositoryView => ({
    runs: runIds.size,
    jobs: [...jobs.values()],
    unchanged,
    etags: seen,
    isComplete,
  });
  for (const status of UNFINISHED) {
    if (!allowance.take()) return view(false);
    const before = etags[status];
    const list = await listRuns(client, name, before === undefined ? { status } : { status, etag: before });
    if (list.kind === 'unchanged') unchanged++;
    const etag = list.kind === 'unchanged' ? before : list.etag;
    if (etag !== undefined) seen[status] = etag;
    for (const { id } of list.kind === 'unchanged' ? [] : list.runs) runIds.add(id);
  }
  for (const runId of runIds) {
    if (!allowance.take()) return view(false);
    for (const job of (await listRunJobs(client, name, runId)) ?? []) jobs.set(job.id, job);
  }
  return view(true);
}
