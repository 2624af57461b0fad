import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { GITHUB_ERROR, GITHUB_REFUSED } from '@paddock/domain/matching/failure-classes';
import { checkAppsTask } from '@paddock/domain/tasks/sweep-names';
import { clearRegistrationStarted, type WorkerToProvision } from '@paddock/db/workers/workers';
import { type GitHubFailure, tellFailure } from '@paddock/github/errors';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { type Outcome, snooze } from '@paddock/queue/kind';
import { awaitAfterRefusal, awaitGitHub, ifGitHubAway } from '../service-away.ts';
import { soonMs } from '../task-run.ts';
import { failWorker, type Provisioning } from './provisioning.ts';

const RETRY_MS = 1_000;

/**
 * Decides what a failed call of GitHub means for a worker's task, and saves what follows. The row
 * ends if the runner may be registered. Unless GitHub is away, the failure counts against the
 * worker's key, or is kept as what GitHub told us. `marked`: the row says that its registration has
 * begun.
 */
export async function afterGitHubFailure(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: GitHubFailure,
  marked: boolean,
): Promise<Outcome> {
  const { db, runnerGroups, events } = parts;
  events.runnerNotRegistered(worker, failure);
  const away = await ifGitHubAway(parts.reach, failure);
  const failureClass = away === undefined ? failureClassOf(failure) : undefined;
  if (failureClass !== undefined) {
    const { podName, readAt: beganAt } = worker;
    const message = tellFailure(failure);
    await noteKeyFailure(db, { podName, failureClass, message, beganAt }, parts.failureRules);
  }
  if (failure.kind === 'conflict' || (marked && mayHaveRegistered(failure))) {
    const message = `It is not known whether GitHub registered the runner: ${failure.message}`;
    return failWorker(parts, worker, { reason: 'registration_interrupted', message });
  }
  if (marked) await clearRegistrationStarted(db, worker.podName);
  if (away !== undefined) return away;
  switch (failure.kind) {
    case 'rate_limited':
      return awaitGitHub(failure);
    case 'not_found':
    case 'unauthorized':
    case 'forbidden': {
      runnerGroups.forget(worker.login);
      const outcome = await awaitAfterRefusal(db, worker, failure);
      // The entity's name or installation may have changed unheard.
      await enqueueAlone(db, [checkAppsTask]);
      return outcome;
    }
    case 'outdated':
      return snooze(
        RETRY_MS,
        `the call is repeated with new credentials after: ${failure.message}`,
      );
    case 'invalid':
      runnerGroups.forget(worker.login);
      throw new Error(
        `GitHub refused to register the runner ${worker.podName}: ${failure.message}`,
      );
    case 'unusable':
    case 'unavailable':
    case 'timeout':
    case 'network':
    case 'unknown':
      return awaitGitHub({
        ...failure,
        retryAfterMs: Math.max(failure.retryAfterMs ?? 0, soonMs(worker)),
      });
    default:
      return failure.kind satisfies never;
  }
}

/** Only the call for the JIT config registers a runner, and not if GitHub refused it. */
function mayHaveRegistered(failure: GitHubFailure): boolean {
  const { operation, neverSent = false } = failure;
  const isTheCall = operation.endsWith('/generate-jitconfig') || operation === 'unknown';
  const failureClass = failureClassOf(failure);
  return !neverSent && isTheCall && (failureClass === GITHUB_ERROR || failureClass === 'unusable');
}

/** The class of a failure that counts against the key; undefined: GitHub has told us something. */
function failureClassOf({ kind }: GitHubFailure): string | undefined {
  switch (kind) {
    // The settings of the entity or the repository, or the pool's labels.
    case 'invalid':
    // One conflict is a name that is taken, and ours are unique: if all conflict, the scope does.
    case 'conflict':
    case 'unusable':
      return kind;
    case 'unavailable':
    case 'timeout':
    case 'network':
    case 'unknown':
      return GITHUB_ERROR;
    // Not by what it tells of the entity alone: that ends with any answer there.
    case 'not_found':
    case 'forbidden':
      return GITHUB_REFUSED;
    case 'unauthorized':
    case 'outdated':
    case 'rate_limited':
      return undefined;
    default:
      return kind satisfies never;
  }
}
