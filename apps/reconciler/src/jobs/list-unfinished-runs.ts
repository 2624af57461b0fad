import type { SeenList } from '@paddock/db/jobs/repositories';
import type { InstallationClient } from '@paddock/github/connect';
import { listRuns, type RunStatus } from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/scope';
import type { Allowance } from './allowance.ts';

/** A run that waits for the approval of one job can hold queued ones, so every status counts but the last. */
const UNFINISHED: readonly RunStatus[] = ['queued', 'in_progress', 'waiting', 'pending', 'requested'];

/** A repository's unfinished runs, before their jobs are asked for. */
export interface UnfinishedRuns {
  readonly name: RepositoryName;
  readonly runIds: readonly number[];
  /** Lists that are as they were at the last look. */
  readonly unchanged: number;
  /** The lists as they are now, by status. */
  readonly lists: Readonly<Record<string, SeenList>>;
  /** False if the allowance ended before every list was asked for: the others stand as they were. */
  readonly isComplete: boolean;
}

/**
 * Lists all unfinished runs of a repository; `before` has the lists of the last look. One that has not changed since costs nothing, and its
 * runs are those of then. Throws what Octokit throws.
 */
export async function listUnfinishedRuns(
  client: InstallationClient,
  name: RepositoryName,
  before: Readonly<Record<string, SeenList>>,
  allowance: Allowance,
): Promise<UnfinishedRuns> {
  const lists: Record<string, SeenList> = { ...before };
  let unchanged = 0;
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
  return { name, runIds, unchanged, lists, isComplete };
}
