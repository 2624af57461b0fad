import type { SeenList } from '@paddock/db/jobs/repositories';
import type { InstallationClient } from '@paddock/github/connect';
import { listRuns, type RunStatus } from '@paddock/github/jobs';
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
  /** The lists as they are now, by status. */
  readonly lists: Readonly<Record<string, SeenList>>;
  /** False if the allowance ended first: the other lists are those of the last pass. */
  readonly isComplete: boolean;
}

/**
 * Lists all unfinished runs of a repository. `before` has the last pass's lists. An unchanged list
 * costs no call of the budget. Throws Octokit's errors.
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
