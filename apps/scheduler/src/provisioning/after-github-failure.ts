import {
  entityInPoolBreaker,
  type BreakerSubject,
  githubBreaker,
  installationBreaker,
  repositoryBreaker,
} from '@paddock/db/breakers/breaker-subjects';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import { recordRefusal } from '@paddock/db/breakers/refusals';
import { clearRegistrationStarted, type WorkerToProvision } from '@paddock/db/workers/workers';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import { type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import { awaitGitHub } from '../await-github.ts';
import { requireTimeLeft } from '../task-run.ts';
import { failWorker } from './fail-worker.ts';
import type { Provisioning } from './provisioning.ts';
import { type InstallationState, repairInstallation } from './repair-installation.ts';
import { LONGEST_UNHELD_MS, unheldWaitMs, waitForReturn } from './wait-for-return.ts';

const RETRY_MS = 1_000;

/**
 * Decides what a failed call of GitHub means for a worker's task, and saves what follows. The row
 * ends if the runner may be registered. A breaker counts the failure against GitHub, the entity or
 * the repository. `marked`: the row says that its registration has begun. Throws if too little of
 * the claim's time is left to call GitHub again.
 */
export async function afterGitHubFailure(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: GitHubFailure,
  { task, marked }: { task: Task; marked: boolean },
): Promise<Outcome> {
  const { db, runnerGroups, events } = parts;
  events.githubFailed(worker, failure);
  const subject = faultOf(failure, worker);
  const counted = subject && { subject, failureClass: failure.kind, message: failure.message };
  const hold = counted && (await noteFailure(parts, counted));
  if (failure.kind === 'conflict' || (marked && mayHaveRegistered(failure))) {
    const message = `It is not known whether GitHub registered the runner: ${failure.message}`;
    return failWorker(parts, worker, { reason: 'registration_interrupted', message });
  }
  if (marked) await clearRegistrationStarted(db, worker.podName);
  switch (failure.kind) {
    case 'rate_limited':
      return awaitGitHub(failure, worker);
    case 'not_found':
    case 'unauthorized':
    case 'forbidden':
      runnerGroups.forget(worker.login);
      return afterRefusal(parts, worker, failure, task);
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
      // A failure that lasts for minutes while no breaker opens concerns this worker only: it costs
      // attempts.
      if (hold !== undefined || unheldWaitMs(worker) <= LONGEST_UNHELD_MS)
        return waitForReturn(worker, hold, failure);
      throw new Error(
        `GitHub did not answer the registration of the runner ${worker.podName}: ${failure.message}`,
      );
    default:
      return failure.kind satisfies never;
  }
}

/** Only the call for the JIT config registers a runner, and not if GitHub refused it. */
function mayHaveRegistered({ kind, operation, neverSent = false }: GitHubFailure): boolean {
  if (neverSent || (!operation.endsWith('/generate-jitconfig') && operation !== 'unknown'))
    return false;
  return (
    kind === 'unusable' ||
    kind === 'unavailable' ||
    kind === 'timeout' ||
    kind === 'network' ||
    kind === 'unknown'
  );
}

/** Looks up who is refused: the refusal of one repository must not hold back its entity. */
async function afterRefusal(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: GitHubFailure,
  task: Task,
): Promise<Outcome> {
  // Recorded first: if the look-up finds another installation, it ends the refusal at once.
  const call = { ...worker, repoId: worker.scopeRepoId, jobId: worker.madeForJobId };
  await recordRefusal(parts, 'scheduler', { call, refusal: failure });
  requireTimeLeft(task);
  const state = await installationState(parts, worker);
  const isUsable = state !== 'gone' && state !== 'suspended';
  const isOfRepository =
    isUsable && worker.scopeRepoId !== 0 && refusedSubject(failure) === 'repository';
  const subject = isOfRepository
    ? repositoryBreaker(worker.scopeRepoId)
    : installationBreaker(worker.entityId);
  const hold = await noteFailure(parts, {
    subject,
    failureClass: failure.kind,
    message: failure.message,
  });
  const held = hold && { heldBy: hold.heldBy };
  return state === 'renewed'
    ? snooze(RETRY_MS, `the installation was updated after: ${failure.message}`)
    : snooze(2 * parts.breakerRules.firstPauseMs, failure.message, held);
}

/** Undefined: GitHub did not answer. The refusal before it remains the reason. */
async function installationState(
  { db, github }: Provisioning,
  worker: WorkerToProvision,
): Promise<InstallationState | undefined> {
  try {
    return await repairInstallation(db, github, worker);
  } catch (error) {
    if (classifyGitHubError(error).operation === 'unknown') throw error;
    return undefined;
  }
}

/**
 * What a failure counts against; undefined: against this call only, or the caller has to find out.
 */
function faultOf({ kind }: GitHubFailure, worker: WorkerToProvision): BreakerSubject | undefined {
  const { entityId, scopeRepoId } = worker;
  switch (kind) {
    // The settings of the entity or the repository may cause it, so the pool's other entities go
    // on. If the pool's labels cause it, each entity finds out for itself.
    case 'invalid':
      return scopeRepoId === 0 ? entityInPoolBreaker(worker) : repositoryBreaker(scopeRepoId);
    // A single conflict is a name that is taken; our names are unique. If every registration
    // conflicts, the scope is at fault.
    case 'conflict':
    case 'unusable':
      return scopeRepoId === 0 ? installationBreaker(entityId) : repositoryBreaker(scopeRepoId);
    case 'unavailable':
    case 'timeout':
    case 'network':
    case 'unknown':
      return githubBreaker;
    case 'not_found':
    case 'unauthorized':
    case 'forbidden':
    case 'outdated':
    case 'rate_limited':
      return undefined;
    default:
      return kind satisfies never;
  }
}
