import type { SeenRun } from '@paddock/db/jobs/repositories';
import type { InstallationClient } from '@paddock/github/connect';
import { type GitHubJob, listRunJobsIfChanged } from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/scope';
import { OUTAGES_AT_MOST } from '../pass-failures.ts';
import type { Allowance } from './allowance.ts';

/** Most runs whose jobs one look asks for: a repository with hundreds of unfinished runs holds up no other. */
export const MOST_RUNS = 100;

/** An ETag is an answer at second hand. After this many looks in a row without a change, a run's jobs are read without it. */
export const UNCHANGED_AT_MOST = 11;

/** Makes one call to GitHub, about a part of the repository (`what`) or itself; undefined if that found nothing, or failed and was dealt with. */
export type AskOne = <T>(what: string | undefined, call: (client: InstallationClient) => Promise<T | undefined>) => Promise<T | undefined>;

export const unreadRun = (id: number): SeenRun => ({ id, etags: [], unchanged: 0 });

/**
 * The unfinished runs in the order in which their jobs are asked for: new ones, newest first, and those that were not asked about for the
 * longest time. However many are new, half of a look is left to the known ones, so that each has its turn.
 */
export function orderRuns(runIds: readonly number[], known: readonly SeenRun[]): SeenRun[] {
  const unfinished = new Set(runIds);
  const knownIds = new Set(known.map(({ id }) => id));
  const fresh = runIds.filter((id) => !knownIds.has(id)).map(unreadRun);
  const half = MOST_RUNS / 2;
  return [...fresh.slice(0, half), ...known.filter(({ id }) => unfinished.has(id)), ...fresh.slice(half)];
}

/** What a look at the jobs of a repository's runs came to. */
export interface JobsOfRuns {
  /** Of the runs that have changed since they were last asked about. */
  readonly jobs: readonly GitHubJob[];
  /** All runs, in the order of their next turn. */
  readonly runs: readonly SeenRun[];
  /** How many runs GitHub was asked about and did not answer for. */
  readonly unanswered: number;
  /** False if some run was not asked about, or not answered for. */
  readonly isComplete: boolean;
}

export interface ListJobsOptions {
  readonly ask: AskOne;
  readonly allowance: Allowance;
  readonly most: number;
}

/**
 * Asks for the jobs of the first `most` runs, each for itself, until too many in a row fail. Who was asked about has its next turn after the
 * others, and who GitHub did not answer for has it last.
 */
export async function listJobsOfRuns(
  { name, inTurn }: { readonly name: RepositoryName; readonly inTurn: readonly SeenRun[] },
  { ask, allowance, most }: ListJobsOptions,
): Promise<JobsOfRuns> {
  const jobs = new Map<number, GitHubJob>();
  const answered: SeenRun[] = [];
  const unanswered: SeenRun[] = [];
  let failedInARow = 0;
  for (const run of inTurn.slice(0, most)) {
    if (failedInARow >= OUTAGES_AT_MOST || !allowance.take()) break;
    const etags = run.unchanged < UNCHANGED_AT_MOST ? run.etags : [];
    let isAsked = false;
    const list = await ask(`run ${run.id}`, async (client) => {
      isAsked = true;
      // A run that is gone has no jobs.
      return (await listRunJobsIfChanged(client, name, { runId: run.id, etags })) ?? NO_JOBS;
    });
    failedInARow = list === undefined ? failedInARow + 1 : 0;
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
