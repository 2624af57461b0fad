import type {
  RepositoryToList,
  SeenList,
  SeenNewest,
  SeenOfRepository,
  SeenRun,
} from '@paddock/db/jobs/repositories';
import type { InstallationClient } from '@paddock/github/connect';
import {
  type GitHubJob,
  type GitHubRun,
  listNewestRuns,
  listRunJobsIfChanged,
  listRuns,
  NEWEST_RUNS,
  type RunStatus,
} from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/repositories';
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
 * older than these may begin again; only the lists by status show that. Undefined if another
 * repository has the name now. Throws Octokit's errors.
 */
export async function listUnfinishedRuns(
  client: InstallationClient,
  name: RepositoryName,
  { repoId, seenBefore, isFullDue }: Pick<RepositoryToList, 'repoId' | 'seenBefore' | 'isFullDue'>,
  allowance: Allowance,
): Promise<UnfinishedRuns | undefined> {
  const { lists: before, runs: unfinished = [], newest: last } = seenBefore;
  const isOurs = (run: GitHubRun) => (run.repoId ?? repoId) === repoId;
  let unchanged = 0;
  const noteUnchanged = () => {
    unchanged++;
    allowance.giveBack();
  };

  let newest: SeenNewest | undefined;
  const needsLists = unfinished.length > 0 || (before === undefined && isFullDue);
  if (!needsLists && allowance.take()) {
    const page = await listNewestRuns(client, name, last?.etag);
    if (page === undefined) noteUnchanged();
    else if (!page.runs.every(isOurs)) return undefined;
    newest = page === undefined ? last : { etag: page.etag, runId: page.runs[0]?.id ?? 0 };
    if (!isFullDue && (page === undefined || isQuiet(page.runs, seenBefore))) {
      const seen = { newest, lists: before ?? {} };
      return { name, runIds: [], unchanged, seen, isFull: false, isComplete: true };
    }
  }

  const lists: Record<string, SeenList> = { ...before };
  let isComplete = true;
  for (const status of UNFINISHED) {
    isComplete = allowance.take();
    if (!isComplete) break;
    const list = await listRuns(client, name, { status, etags: before?.[status]?.etags ?? [] });
    if (list.kind === 'unchanged') noteUnchanged();
    else if (!list.items.every(isOurs)) return undefined;
    else lists[status] = { etags: list.etags, runIds: list.items.map(({ id }) => id) };
  }
  const runIds = [...new Set(Object.values(lists).flatMap((list) => list.runIds))];
  const seen = { lists, ...(isComplete ? { newest } : {}) };
  return { name, runIds, unchanged, seen, isFull: isComplete, isComplete };
}

/**
 * No run among the newest is unfinished, and none since the newest run of before is missing. At the
 * first time nothing is known of older ones: all lists have their turn later in the day.
 */
const isQuiet = (runs: readonly GitHubRun[], { lists, newest }: SeenOfRepository): boolean =>
  runs.every(({ status }) => status === 'completed') &&
  (lists === undefined ||
    (newest !== undefined &&
      (runs.length < NEWEST_RUNS || runs.some(({ id }) => id === newest.runId))));

/** Most runs whose jobs one pass asks for: a repository with many runs must not hold up others. */
export const MOST_RUNS = 100;

/**
 * ETags may be wrong: after this many passes without a change, a run's jobs are read without one.
 */
export const UNCHANGED_AT_MOST = 11;

/**
 * Makes one call to GitHub about a part of the repository (`what`) or the repository itself.
 * Undefined if nothing was found, or if the call failed, which is then handled.
 */
export type AskOne = <T>(
  what: string | undefined,
  call: (client: InstallationClient) => Promise<T | undefined>,
) => Promise<T | undefined>;

export const unreadRun = (id: number): SeenRun => ({ id, etags: [], unchanged: 0 });

/**
 * The unfinished runs in the order of asking for their jobs: new ones, newest first, then those not
 * asked about for longest. Known runs get at least half of a pass, so that each has its turn.
 */
export function orderRuns(runIds: readonly number[], known: readonly SeenRun[]): SeenRun[] {
  const unfinished = new Set(runIds);
  const knownIds = new Set(known.map(({ id }) => id));
  const fresh = runIds.filter((id) => !knownIds.has(id)).map(unreadRun);
  const half = MOST_RUNS / 2;
  return [
    ...fresh.slice(0, half),
    ...known.filter(({ id }) => unfinished.has(id)),
    ...fresh.slice(half),
  ];
}

/** The jobs of a repository's runs. */
export interface JobsOfRuns {
  /** The jobs of the runs that have changed since the last question. */
  readonly jobs: readonly GitHubJob[];
  /** All runs, in the order of their next turn. */
  readonly runs: readonly SeenRun[];
  /** Runs for which GitHub did not answer. */
  readonly unanswered: number;
  /** False if some run was not asked about, or not answered. */
  readonly isComplete: boolean;
}

export interface ListJobsOptions {
  readonly ask: AskOne;
  readonly allowance: Allowance;
  /** Most runs whose jobs one pass asks for. */
  readonly most: number;
}

/**
 * Asks for the jobs of the first `most` runs, one call each. In the next pass, answered runs come
 * after the others, and unanswered ones last.
 */
export async function listJobsOfRuns(
  { name, inTurn }: { readonly name: RepositoryName; readonly inTurn: readonly SeenRun[] },
  { ask, allowance, most }: ListJobsOptions,
): Promise<JobsOfRuns> {
  const jobs = new Map<number, GitHubJob>();
  const answered: SeenRun[] = [];
  const unanswered: SeenRun[] = [];
  for (const run of inTurn.slice(0, most)) {
    if (!allowance.take()) break;
    const etags = run.unchanged < UNCHANGED_AT_MOST ? run.etags : [];
    let isAsked = false;
    const list = await ask(`run ${run.id}`, async (client) => {
      isAsked = true;
      // GitHub no longer knows the run, so it has no jobs.
      return (await listRunJobsIfChanged(client, name, { runId: run.id, etags })) ?? NO_JOBS;
    });
    if (list?.kind === 'unchanged') {
      allowance.giveBack();
      answered.push({ ...run, unchanged: run.unchanged + 1 });
    } else if (list !== undefined) {
      answered.push({ id: run.id, etags: list.etags, unchanged: 0 });
      for (const job of list.items) jobs.set(job.id, job);
    } else if (isAsked) {
      unanswered.push(run);
    }
  }
  const asked = new Set([...answered, ...unanswered].map(({ id }) => id));
  return {
    jobs: [...jobs.values()],
    runs: [...inTurn.filter(({ id }) => !asked.has(id)), ...answered, ...unanswered],
    unanswered: unanswered.length,
    isComplete: answered.length === inTurn.length,
  };
}

const NO_JOBS = { kind: 'changed', items: [], etags: [] } as const;
