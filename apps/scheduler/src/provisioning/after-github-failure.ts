import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { GITHUB_ERROR, GITHUB_REFUSED } from '@paddock/domain/matching/failure-classes';
import { pinLogins, storeInstallations } from '@paddock/db/entities/installations';
import { recordRefusal, refuse } from '@paddock/db/entities/refusals';
import { clearRegistrationStarted, type WorkerToProvision } from '@paddock/db/workers/workers';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import type { GitHub } from '@paddock/github/connect';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import { findInstallation, type GitHubInstallation } from '@paddock/github/installations';
import { type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/kind';
import { awaitGitHub } from '../await-github.ts';
import { ifGitHubAway } from '../if-away.ts';
import { requireTimeLeft, soonMs } from '../task-run.ts';
import { failWorker, type Provisioning } from './provisioning.ts';

const RETRY_MS = 1_000;

/**
 * Decides what a failed call of GitHub means for a worker's task, and saves what follows. The row
 * ends if the runner may be registered. Unless GitHub is away, the failure counts against the
 * worker's key, or is kept as what GitHub told us. `marked`: the row says that its registration has
 * begun. Throws if too little of the claim's time is left to call GitHub again.
 */
export async function afterGitHubFailure(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: GitHubFailure,
  { task, marked }: { task: Task; marked: boolean },
): Promise<Outcome> {
  const { db, runnerGroups, events } = parts;
  events.runnerNotRegistered(worker, failure);
  const away = await ifGitHubAway(parts.reach, failure);
  const failureClass = away === undefined ? failureClassOf(failure) : undefined;
  if (failureClass !== undefined) {
    const { podName, readAt: beganAt } = worker;
    const { status, operation } = failure;
    const answered = status === undefined ? 'did not answer' : `answered ${status} to`;
    const message = `GitHub ${answered} ${operation}: ${failure.message}`;
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
      return snooze(Math.max(failure.retryAfterMs ?? 0, soonMs(worker)), failure.message);
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

/** Looks up whether the refusal of a repository is one of its entity. */
async function afterRefusal(
  parts: Provisioning,
  worker: WorkerToProvision,
  failure: GitHubFailure,
  task: Task,
): Promise<Outcome> {
  const { db } = parts;
  // Recorded first: if the look-up finds another installation, it ends the refusal at once.
  const call = { ...worker, repoId: worker.scopeRepoId, jobId: worker.madeForJobId };
  const retryAfterMs = await recordRefusal(db, 'scheduler', { call, refusal: failure });
  requireTimeLeft(task);
  const state = await repairInstallation(parts, worker);
  if (state === 'renewed')
    return snooze(RETRY_MS, `the installation was updated after: ${failure.message}`);
  if (state === 'gone' && refusedSubject(failure) === 'repository')
    await refuse(db, 'entity', call, failure);
  return awaitGitHub({ ...failure, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

/**
 * Asks GitHub, as the App, where it is installed. The entity may have a new name, or the App may
 * have been installed again, and the delivery that said so was lost. Makes at most two calls.
 * `renewed`: the rows were updated, so the caller may repeat its call at once; `gone`: the App may
 * do nothing there; undefined: GitHub sees nothing wrong, or does not answer, and the refusal before
 * it remains the reason.
 */
async function repairInstallation(
  { db, github }: Provisioning,
  worker: WorkerToProvision,
): Promise<'renewed' | 'gone' | undefined> {
  let found: GitHubInstallation | undefined;
  try {
    found = await findInstallationOf(github, worker);
  } catch (error) {
    if (classifyGitHubError(error).operation === 'unknown') throw error;
    return undefined;
  }
  // Another entity may have taken a login that is free.
  if (found === undefined || found.entityId !== worker.entityId) return 'gone';
  const { id: installationId, login, selection: repositorySelection, suspendedAt } = found;
  if (installationId === worker.installationId && login === worker.login)
    return suspendedAt === null ? undefined : 'gone';
  const entity = { id: worker.entityId, login, type: worker.entityType };
  const stated = {
    appId: worker.appId,
    entity,
    installationId,
    repositorySelection,
    suspendedAt,
    isDeleted: false,
    statedAt: null,
  };
  const refused = await db.transaction().execute(async (trx) => {
    const others = await pinLogins(trx, [entity]);
    await storeInstallations(trx, [stated]);
    return others;
  });
  // Its new login belongs to another entity: the matcher stops the worker.
  return refused.has(entity.id) ? 'gone' : 'renewed';
}

async function findInstallationOf(
  github: GitHub,
  worker: WorkerToProvision,
): Promise<GitHubInstallation | undefined> {
  const app = github.asApp(worker.appId);
  const byId = await findInstallation(app, { id: worker.installationId });
  if (byId !== undefined) return byId;
  if (worker.entityType === 'Organization')
    return findInstallation(app, { organization: worker.login });
  const repo = worker.repoFullName?.split('/')[1];
  return repo === undefined
    ? undefined
    : findInstallation(app, { repository: { owner: worker.login, repo } });
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
