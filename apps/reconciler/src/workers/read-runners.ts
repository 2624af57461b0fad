import { endRefusals, recordRefusal } from '@paddock/db/breakers/refusals';
import type { Noting } from '@paddock/db/breakers/note-failure';
import type { OverdueWorker } from '@paddock/db/workers/overdue-workers';
import type { RunnerReading } from '@paddock/db/workers/runner-readings';
import { countListable } from '@paddock/db/workers/worker-stops';
import { isRunnerOf } from '@paddock/domain/workers/runner-name';
import { isOfSameInstance } from '@paddock/domain/workers/worker-name';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { GitHub } from '@paddock/github/connect';
import { classifyGitHubError } from '@paddock/github/errors';
import { findRunner, type GitHubRunner, listRunners } from '@paddock/github/runners';
import type { ReconcilerEvents } from '../events.ts';
import type { PassFailures } from '../pass-failures.ts';
import { scopeToday } from '../scope-today.ts';

export interface ReadingRunners extends Noting {
  readonly github: GitHub;
  readonly events: Pick<ReconcilerEvents, 'runnersNotRead' | 'runnersMissing'>;
  readonly dryRun: boolean;
}

/** With at most this many registered workers, a list without any of our runners may be complete. */
const FEW_WORKERS = 1;

interface Pass {
  readonly failures: PassFailures;
  readonly signal: AbortSignal;
}

/**
 * Reads the runners of one scope's workers from GitHub: one worker by name, several from a list.
 * Undefined, so that the caller concludes nothing, if GitHub does not answer, if the answer cannot
 * be read, or if a list has none of our runners although several are registered.
 */
export async function readRunners(
  parts: ReadingRunners,
  workers: readonly [OverdueWorker, ...OverdueWorker[]],
  { failures, signal }: Pass,
): Promise<RunnerReading[] | undefined> {
  const { db, breakerRules, events, dryRun } = parts;
  const [first] = workers;
  const call = { ...first, repoId: first.scopeRepoId };
  if (failures.isPointless(call)) return undefined;
  const registered = await countListable(db, first);
  let answer: Answer | undefined;
  try {
    answer = await ask(parts.github, workers, { registered, signal });
  } catch (error) {
    signal.throwIfAborted();
    const failure = classifyGitHubError(error);
    if (failure.kind === 'rate_limited') return undefined; // the call that GitHub asked to wait has logged it
    events.runnersNotRead(first.login, failure);
    failures.note(call, failure);
    if (refusedSubject(failure) !== undefined && !dryRun) {
      await recordRefusal({ db, breakerRules }, 'reconciler', { call, refusal: failure });
    }
    return undefined;
  }
  failures.answered();
  if (answer === undefined) {
    events.runnersNotRead(first.login, {
      repositoryId: first.scopeRepoId,
      message: 'GitHub does not show us the repository',
    });
    return undefined;
  }
  if (!dryRun) await endRefusals(db, call);
  if (answer.isComplete) return readings(workers, answer.runners);
  events.runnersMissing(first.login, registered);
  return undefined;
}

interface Answer {
  readonly runners: readonly GitHubRunner[];
  /** False: the list has none of our runners although it must. */
  readonly isComplete: boolean;
}

/**
 * Undefined: GitHub does not show us the repository. Throws Octokit's errors, and for odd answers.
 */
async function ask(
  github: GitHub,
  workers: readonly [OverdueWorker, ...OverdueWorker[]],
  { registered, signal }: { registered: number; signal: AbortSignal },
): Promise<Answer | undefined> {
  const [first] = workers;
  const isOurs = ({ name }: GitHubRunner): boolean => isOfSameInstance(name, first.podName);
  const client = github.asInstallation(first, { signal });
  const scope = await scopeToday(client, first);
  if (scope === undefined) return undefined;
  const listed = workers.length > 1 ? await listRunners(client, scope) : undefined;
  const runners =
    listed ??
    [await findRunner(client, scope, first.podName)].filter((runner) => runner !== undefined);
  if (runners.some(isOurs) || registered <= FEW_WORKERS) return { runners, isComplete: true };
  // The runner asked for by name may be gone: only the list shows whether GitHub's answer is
  // complete.
  return { runners, isComplete: (listed ?? (await listRunners(client, scope))).some(isOurs) };
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
