import type { Database } from '@paddock/db/schema/tables';
import type { OverdueWorker } from '@paddock/db/workers/overdue-workers';
import type { RunnerReading } from '@paddock/db/workers/runner-readings';
import { findListableRunners } from '@paddock/db/workers/worker-stops';
import { isRunnerOf } from '@paddock/domain/workers/runner-name';
import { isOfSameInstance } from '@paddock/domain/workers/worker-name';
import type { InstallationClient } from '@paddock/github/connect';
import { findRepository } from '@paddock/github/repositories';
import { findRunner, getRunner, type GitHubRunner, listRunners } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import type { Ask } from '../passes/ask-github.ts';

export interface ReadingRunners {
  readonly db: Kysely<Database>;
  readonly events: Pick<ReconcilerEvents, 'runnersNotRead' | 'runnersMissing'>;
}

/** With at most this many registered workers, a list without any of our runners may be complete. */
const FEW_WORKERS = 1;

/**
 * Reads the runners of one scope's workers from GitHub: one worker by name, several from a list.
 * Undefined, so that the caller concludes nothing, if GitHub does not answer, if the answer cannot
 * be read, or if a list has none of our runners although several are registered. After three such
 * lists over an hour GitHub is asked for each runner by its id.
 */
export async function readRunners(
  { db, events }: ReadingRunners,
  workers: readonly [OverdueWorker, ...OverdueWorker[]],
  { ask, hasFailedLong }: { readonly ask: Ask; readonly hasFailedLong: boolean },
): Promise<RunnerReading[] | undefined> {
  const [first] = workers;
  const registered = (await findListableRunners(db, first)).length;
  const answer = await ask(first.login, (client) =>
    askScope(client, workers, { registered, byId: hasFailedLong }),
  );
  if (answer === undefined) return undefined;
  if (answer.isComplete) return readings(answer.workers ?? workers, answer.runners);
  events.runnersMissing(first.login, registered);
  return undefined;
}

interface Answer {
  readonly runners: readonly GitHubRunner[];
  /** Only these were asked about; absent: all. */
  readonly workers?: readonly OverdueWorker[];
  /** False: the list has none of our runners although it must. */
  readonly isComplete: boolean;
}

/**
 * Undefined: GitHub does not show us the repository. Throws Octokit's errors, and for odd answers.
 */
async function askScope(
  client: InstallationClient,
  workers: readonly [OverdueWorker, ...OverdueWorker[]],
  { registered, byId }: { readonly registered: number; readonly byId: boolean },
): Promise<Answer | undefined> {
  const [first] = workers;
  const isOurs = ({ name }: GitHubRunner): boolean => isOfSameInstance(name, first.podName);
  const scope = await scopeToday(client, first);
  if (scope === undefined) return undefined;
  const listed = workers.length > 1 ? await listRunners(client, scope) : undefined;
  const runners =
    listed ??
    [await findRunner(client, scope, first.podName)].filter((runner) => runner !== undefined);
  if (runners.some(isOurs) || registered <= FEW_WORKERS) return { runners, isComplete: true };
  // The runner asked for by name may be gone: only the list shows whether GitHub's answer is
  // complete.
  const isComplete = (listed ?? (await listRunners(client, scope))).some(isOurs);
  if (isComplete || !byId) return { runners, isComplete };
  const found: GitHubRunner[] = [];
  const withId = workers.filter(({ runnerId }) => runnerId !== null);
  for (const { runnerId } of withId) {
    const runner = await getRunner(client, scope, Number(runnerId));
    if (runner !== undefined) found.push(runner);
  }
  return { runners: found, workers: withId, isComplete: true };
}

function readings(
  workers: readonly OverdueWorker[],
  runners: readonly GitHubRunner[],
): RunnerReading[] {
  const byName = new Map(runners.map((runner) => [runner.name, runner]));
  return workers.map(({ podName, runnerId }) => {
    const named = byName.get(podName);
    const runner =
      named !== undefined && isRunnerOf({ podName, runnerId }, named) ? named : undefined;
    return {
      podName,
      isKnown: runner !== undefined,
      isOnline: runner?.online ?? false,
      isBusy: runner?.busy ?? false,
    };
  });
}

/**
 * The registration scope by today's names, since repositories are renamed. Undefined: GitHub does
 * not show us the repository.
 */
export async function scopeToday(
  client: InstallationClient,
  { scopeRepoId, login }: { scopeRepoId: number; login: string },
): Promise<RegistrationScope | undefined> {
  if (scopeRepoId === 0) return { kind: 'organization', owner: login };
  const repository = await findRepository(client, scopeRepoId);
  return repository && { kind: 'repository', owner: repository.owner, repo: repository.name };
}
