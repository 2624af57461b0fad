import {
  entityInPoolBreaker,
  type BreakerSubject,
  githubBreaker,
  installationBreaker,
  repositoryBreaker,
} from '@paddock/db/breakers/breaker-subjects';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import type { Database } from '@paddock/db/schema/tables';
import { clearRegistrationStarted, type WorkerToProvision } from '@paddock/db/workers/workers';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { GitHub } from '@paddock/github/connect';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import { done, type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import type { Kysely } from 'kysely';
import { awaitGitHub } from '../await-github.ts';
import { noteRefusal } from '../note-refusal.ts';
import { failWorker } from './fail-worker.ts';
import { requireLease } from '../require-lease.ts';
import type { Registering } from './registering.ts';
import { repairInstallation, type Standing } from './repair-installation.ts';
import { aloneMs, LONGEST_ALONE_MS, waitForReturn } from './wait-for-return.ts';

const LOOK_AGAIN_MS = 1_000;

/**
 * What a failed call of GitHub's means for a worker's task, with everything that follows from it written down: the row ends where nobody can
 * know whether its runner was registered; a breaker counts what speaks against GitHub, the entity or the repository. `marked`: the row says that
 * its registration has begun. Throws instead of asking GitHub more if too little of the lease is left.
 */
export async function afterGitHubFailure(
  parts: Registering,
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
    await failWorker(parts, worker, { reason: 'registration_interrupted', message });
    return done({ ended: 'registration_interrupted' });
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
      return snooze(LOOK_AGAIN_MS, `GitHub is asked with new credentials after: ${failure.message}`);
    case 'invalid':
      runnerGroups.forget(worker.login);
      throw new Error(`GitHub refused to register the runner ${worker.podName}: ${failure.message}`);
    case 'unusable':
    case 'unavailable':
    case 'timeout':
    case 'network':
    case 'unknown':
      // What fails for minutes while no breaker opens fails for this worker alone: that costs attempts.
      if (hold !== undefined || aloneMs(worker) <= LONGEST_ALONE_MS) return waitForReturn(worker, hold, failure);
      throw new Error(`GitHub could not be asked to register the runner ${worker.podName}: ${failure.message}`);
    default:
      return failure.kind satisfies never;
  }
}

/** Only the call for the JIT config registers anything, and only when it was not refused. */
function mayHaveRegistered({ kind, operation, neverSent = false }: GitHubFailure): boolean {
  if (neverSent || (!operation.endsWith('/generate-jitconfig') && operation !== 'unknown')) return false;
  return kind === 'unusable' || kind === 'unavailable' || kind === 'timeout' || kind === 'network' || kind === 'unknown';
}

/** Whom a refusal speaks against is not in it: an entity that works well does not wait for one of its repositories. */
async function afterRefusal(parts: Registering, worker: WorkerToProvision, failure: GitHubFailure, task: Task): Promise<Outcome> {
  // Before the installation is looked up: if that shows another one, the refusal is over at once.
  await noteRefusal(parts, worker, failure);
  requireLease(task);
  const standing = await standingOf(parts.db, parts.github, worker);
  const isUsable = standing !== 'gone' && standing !== 'suspended';
  const isRepositorys = isUsable && worker.scopeRepoId !== 0 && refusedSubject(failure) === 'repository';
  const subject = isRepositorys ? repositoryBreaker(worker.scopeRepoId) : installationBreaker(worker.entityId);
  const hold = await noteFailure(parts, { subject, failureClass: failure.kind, message: failure.message });
  const held = hold && { heldBy: hold.heldBy };
  return standing === 'renewed'
    ? snooze(LOOK_AGAIN_MS, `the installation was found anew after: ${failure.message}`)
    : snooze(2 * parts.breakerRules.firstPauseMs, failure.message, held);
}

/** Undefined: GitHub could not be asked. That changes nothing: the refusal before it says why. */
async function standingOf(db: Kysely<Database>, github: GitHub, worker: WorkerToProvision): Promise<Standing | undefined> {
  try {
    return await repairInstallation(db, github, worker);
  } catch (error) {
    if (classifyGitHubError(error).operation === 'unknown') throw error;
    return undefined;
  }
}

/** What a failure of GitHub's speaks against; undefined: nothing but this call, or it has to be found out. */
function faultOf({ kind }: GitHubFailure, worker: WorkerToProvision): BreakerSubject | undefined {
  const { entityId, scopeRepoId } = worker;
  switch (kind) {
    // What GitHub calls invalid may be how the entity or repository is set up: no other entity of the pool waits for that. Each finds out
    // for itself where it is the pool's labels.
    case 'invalid':
      return scopeRepoId === 0 ? entityInPoolBreaker(worker) : repositoryBreaker(scopeRepoId);
    // One is a name that is taken, which ours never are twice; when every registration conflicts, where they are made is at fault.
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
