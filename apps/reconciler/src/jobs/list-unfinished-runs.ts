import type {
  RepositoryToList,
  SeenList,
  SeenNewest,
  SeenOfRepository,
} from '@paddock/db/jobs/repositories';
import type { InstallationClient } from '@paddock/github/connect';
import {
  type GitHubRun,
  listNewestRuns,
  listRuns,
  NEWEST_RUNS,
  type RunStatus,
} from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/scope';
import type { Allowance } from './call-allowance.ts';

/** All statuses but `completed`: a run that waits for an approval can have queued jobs. */
const UNFINISHED: readonly RunStatus[] = [
  'queued',
  'in_progress',
  'waiting',
  'pending',
  'requested',
];

/** A repository's unfinished runs. */
export interface UnfinishedRuns {
  readonly name: RepositoryName;
  readonly runIds: readonly number[];
  /** Lists that have not changed since the last pass. */
  readonly unchanged: number;
  /** The lists as they are now. */
  readonly seen: Pick<SeenOfRepository, 'newest' | 'lists'>;
  /** All lists of unfinished runs were read. */
  readonly isFull: boolean;
  /** False if the allowance ended first: the other lists are those of the last pass. */
  readonly isComplete: boolean;
}

/**
 * Lists all unfinished runs of a repository. Without one before, its newest runs alone show whether
 * there can be any: one call, which costs none of the budget if nothing has changed. A run that is
 * older than these may begin again; only the lists by status show that. Throws Octokit's errors.
 */
export async function listUnfinishedRuns(
  client: InstallationClient,
  name: RepositoryName,
  { seenBefore, isFullDue }: Pick<RepositoryToList, 'seenBefore' | 'isFullDue'>,
  allowance: Allowance,
): Promise<UnfinishedRuns> {
  const { lists: before = {}, runs = [], newest: last } = seenBefore;
  const isFirst = seenBefore.lists === undefined;
  let newest: SeenNewest | undefined;
  let unchanged = 0;
  if (runs.length === 0 && !(isFirst && isFullDue) && allowance.take()) {
    const page = await listNewestRuns(client, name, last?.etag);
    if (page === undefined) {
      unchanged++;
      allowance.giveBack();
    }
    newest = page === undefined ? last : { etag: page.etag, runId: page.runs[0]?.id ?? 0 };
    if (!isFullDue && (page === undefined || isQuiet(page.runs, isFirst ? 'first' : last))) {
      const seen = { newest, lists: before };
      return { name, runIds: [], unchanged, seen, isFull: false, isComplete: true };
    }
  }
  const lists: Record<string, SeenList> = { ...before };
  let isComplete = true;
  for (const status of UNFINISHED) {
    if (!allowance.take()) {
      isComplete = false;
      break;
    }
    const list = await listRuns(client, name, { status, etags: before[status]?.etags ?? [] });
    if (list.kind === 'unchanged') {
      unchanged++;
      allowance.giveBack();
    } else {
      lists[status] = { etags: list.etags, runIds: list.items.map(({ id }) => id) };
    }
  }
  const runIds = [...new Set(Object.values(lists).flatMap((list) => list.runIds))];
  const seen = { lists, ...(isComplete ? { newest } : {}) };
  return { name, runIds, unchanged, seen, isFull: isComplete, isComplete };
}

/**
 * No run among the newest is unfinished, and none since the newest run of before is missing. At the
 * first time nothing is known of older ones: all lists have their turn later in the day.
 */
const isQuiet = (runs: readonly GitHubRun[], last: SeenNewest | 'first' | undefined): boolean =>
  last !== undefined &&
  runs.every(({ status }) => status === 'completed') &&
  (last === 'first' || runs.length < NEWEST_RUNS || runs.some(({ id }) => id === last.runId));
